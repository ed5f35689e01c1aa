"""How ``trtllm-serve`` is started, watched and stopped, here or on several nodes."""
