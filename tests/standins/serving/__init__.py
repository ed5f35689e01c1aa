"""What does ``trtllm-serve`` do?"""

from __future__ import annotations

from tests.standins.serving.program import main

__all__ = ["main"]
