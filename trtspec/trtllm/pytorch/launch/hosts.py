"""Which texts name a host to listen on."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address

HOSTS = "an IPv4 address or name of this machine, or 0.0.0.0 for all"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")


def is_host(text: str) -> bool:
    """Whether a text can be a host's name or is an IPv4 address in full.

    The C library reads "" and "0" as every interface, and "127.1" as 127.0.0.1.
    """
    if not _NAME.fullmatch(text):
        return False
    if not _NUMBER.fullmatch(text.rstrip(".").rpartition(".")[2]):
        return True
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True
