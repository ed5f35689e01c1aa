"""What steps cost on a GPU that is not here, by its name."""
