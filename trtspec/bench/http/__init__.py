"""How a running OpenAI-compatible server is measured, over HTTP."""
