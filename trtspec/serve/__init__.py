"""An OpenAI-compatible server over an engine: from one recipe to a service."""
