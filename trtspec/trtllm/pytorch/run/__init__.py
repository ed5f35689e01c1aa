"""How backend pytorch runs: TensorRT-LLM's own engine loop behind ``Runner``.

Tokens come from a ``source``: an LLM in this process (``llm_source``, made with
``llm_arguments``), or trtllm-serve (``http_source``, after ``server_check``, read by
``server_events``). ``pump`` reads many of its streams at once; ``runner`` makes of
them what ``advance`` gives. ``admission`` and ``controls`` refuse requests before
anything is sent, ``early`` before anything is opened; ``sampling`` says them in
TensorRT-LLM's words, ``request`` and ``counts`` keep what came of them,
``http_counters`` reads what a server counted. ``package`` imports TensorRT-LLM,
``opening`` puts it all together.
"""

from trtspec.trtllm.pytorch.run.opening import (
    open_artifact,
    open_http_runner,
    open_runner,
)
from trtspec.trtllm.pytorch.run.runner import PyTorchRunner

__all__ = ["PyTorchRunner", "open_artifact", "open_http_runner", "open_runner"]
