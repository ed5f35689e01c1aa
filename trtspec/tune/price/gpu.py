"""Which GPU a name means, here and in aiconfigurator's data."""

from __future__ import annotations

from trtspec.errors import UsageError
from trtspec.gpu_kinds import GpuKind, gpu_kind

OPTION = "--price-for"

SYSTEMS = {
    "A100 SXM 80GB": "a100_sxm",
    "A100 PCIe 80GB": "a100_pcie",
    "A30": "a30",
    "L4": "l4",
    "L40S": "l40s",
    "H100 SXM": "h100_sxm",
    "H100 PCIe": "h100_pcie",
    "H200": "h200_sxm",
    "B200": "b200_sxm",
    "B300": "b300_sxm",
    "GB200": "gb200",
    "GB300": "gb300",
    "RTX PRO 6000 Blackwell": "rtx_pro_6000_server",
}
"""Our name of a kind → its system in aiconfigurator_core/systems (0.12.0). Of
a100_pcie, a30, h100_pcie and l4 that has the data sheet only."""

_BY_SYSTEM = {system: name for name, system in SYSTEMS.items()}


def priced_kind(name: str) -> GpuKind:
    """Give the kind of a name: ours, or aiconfigurator's such as ``h200_sxm``.

    :raises UsageError: if no such GPU is known.
    """
    own = _BY_SYSTEM.get(name.strip().lower().replace("-", "_"), name)
    try:
        return gpu_kind(own)
    except UsageError as error:
        first = error.problems[0]
        raise UsageError(
            first.what,
            where=OPTION,
            allowed=first.allowed,
            action=_renamed(first.action),
        ) from None


def _renamed(action: str) -> str:
    return action.replace("--gpu ", f"{OPTION} ")


def system_of(kind: GpuKind) -> str | None:
    """Give aiconfigurator's name of a kind; None if it does not know it."""
    return SYSTEMS.get(kind.name)
