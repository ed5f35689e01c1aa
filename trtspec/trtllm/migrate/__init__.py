"""What a configuration of TensorRT-LLM's backend pytorch becomes on another release.

``vendor`` moves the LLM API's YAML, ``recipes`` one of our recipes. Steps look at one
topic each and give changes; the result is what the changes make of the file, so that
what is told and what is written cannot differ.
"""
