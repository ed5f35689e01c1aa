"""The documents of OpenAI's API that the server reads and writes."""
