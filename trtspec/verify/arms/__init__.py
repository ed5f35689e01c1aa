"""How an arm of a verification is asked: a runner in this process, or a server."""
