"""How much memory a recipe's models and KV caches take on a GPU."""
