"""What a recipe asks for beside speculation, and what a version makes of the two."""
