"""How TensorRT-LLM's backend pytorch is configured, built for, served and run.

``compile`` turns a recipe into the LLM API's YAML for one version, ``build`` into an
artifact, ``launch`` starts and supervises ``trtllm-serve``, ``run`` sends requests in
process or over HTTP, ``metrics`` reads what was accepted.
"""
