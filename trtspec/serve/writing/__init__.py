"""How what an engine emits is written as OpenAI's documents."""
