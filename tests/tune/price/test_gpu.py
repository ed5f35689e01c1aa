"""A GPU may be named as the project does, or as aiconfigurator does."""

from __future__ import annotations

import pytest

from trtspec.errors import UsageError
from trtspec.gpu_kinds import gpu_kind
from trtspec.tune.price.gpu import SYSTEMS, priced_kind, system_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("h200_sxm", "H200"),
        ("H200", "H200"),
        ("a100_sxm", "A100 SXM 80GB"),
        ("a100-pcie", "A100 PCIe 80GB"),
        ("h100", "H100 SXM"),
        ("rtx_pro_6000_server", "RTX PRO 6000 Blackwell"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        (" gb200 ", "GB200"),
    ],
)
def test_both_ways_of_naming_lead_to_one_kind(name, kind):
    assert priced_kind(name).name == kind


def test_every_system_is_of_a_kind_that_is_known():
    for name, system in SYSTEMS.items():
        assert gpu_kind(name).name == name
        assert system_of(priced_kind(system)) == system


def test_a_kind_of_no_system_is_known_all_the_same():
    assert system_of(priced_kind("rtx 4090")) is None


@pytest.mark.parametrize("name", ["h300", "a100", ""])
def test_a_name_that_says_too_little_is_refused_with_the_options_name(name):
    with pytest.raises(UsageError) as caught:
        priced_kind(name)
    (problem,) = caught.value.problems
    assert problem.where == "--price-for"
    assert "--gpu" not in problem.action
