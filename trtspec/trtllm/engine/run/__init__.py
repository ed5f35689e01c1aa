"""How built engines are run: TensorRT-LLM's C++ executor behind ``Runner``.

``runner`` puts it together. ``gate`` refuses what cannot work (``gate_engine``,
``gate_drafts``: pure rules) → ``load`` says how each engine is loaded, ``config`` says
it in the executor's words → ``admission`` refuses requests → ``loop`` decides what runs
when: ``rounds`` where drafts come from outside (``drafters``), ``streams`` where the
engine decodes by itself. Both send requests (``request``) through an ``executor`` and
read its answers; ``bindings`` knows the classes of both.
"""

from trtspec.trtllm.engine.run.runner import EngineRunner, open_runner

__all__ = ["EngineRunner", "open_runner"]
