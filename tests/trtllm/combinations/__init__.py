"""What goes together with speculation on which version."""
