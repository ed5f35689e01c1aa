"""How a tuning is shown to people: the choice, the surface behind it, the bill."""
