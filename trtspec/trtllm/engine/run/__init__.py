"""How built engines are run: TensorRT-LLM's C++ executor behind ``Runner``.

``runner`` puts it together. ``checks`` refuses what cannot work (``gate*``, pure rules)
→ ``settings`` and ``decoding`` say how each engine is loaded → ``admission`` refuses
requests → ``loop`` decides what runs when: ``rounds`` where drafts come from outside
(``drafters``), ``streams`` where the engine decodes by itself (``acceptance`` reads its
counts). Both send requests (``request``) through an ``executor`` and get ``answers``.
"""

from trtspec.trtllm.engine.run.runner import EngineRunner, open_runner

__all__ = ["EngineRunner", "open_runner"]
