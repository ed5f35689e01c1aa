"""The HTTP side of a server: who may come in, how many, and what they are sent."""
