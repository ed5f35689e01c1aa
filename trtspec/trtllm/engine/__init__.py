"""TensorRT-LLM's engine backend: from a recipe to engines, and how they are run.

``plan``: ``sizes`` → ``convert`` / ``compile`` give commands → ``stages``; after each
command ``readback`` holds what was written against what was planned; ``failures``
explains a log. ``run/`` drives the C++ executor.
"""
