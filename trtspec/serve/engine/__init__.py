"""One thread that drives a runner, and streams out of it for asyncio."""

from trtspec.serve.engine.driver import EngineDriver, EngineFailedError
from trtspec.serve.engine.stream import RequestStream
from trtspec.serve.engine.thread import EngineThread

__all__ = ["EngineDriver", "EngineFailedError", "EngineThread", "RequestStream"]
