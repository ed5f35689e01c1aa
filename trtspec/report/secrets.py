"""What must not be shown: passwords in addresses, and values of options for keys."""

from __future__ import annotations

import re

HIDDEN = "***"

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_KEYS = re.compile(
    r"(?i)(--?[\w-]*(?:api-key|token|password|secret)(?![\w-]*s\b)[\w-]*[= ])(\S+)"
)


def without_secrets(text: str) -> str:
    """Hide user and password of addresses, and what stands behind such an option."""
    return _KEYS.sub(rf"\1{HIDDEN}", _CREDENTIALS.sub(HIDDEN, text))
