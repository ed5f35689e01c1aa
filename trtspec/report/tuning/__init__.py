"""How a tuning is shown to people: the choice, the surface it was made from, the bill."""
