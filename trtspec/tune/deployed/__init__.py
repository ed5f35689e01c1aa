"""How a recipe is tuned on the backend that it is deployed on, through its runner."""
