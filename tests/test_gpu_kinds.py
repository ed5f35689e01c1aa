"""A GPU is known by its names, and every figure of the table has a source."""

import pytest

from tests.trtllm.machines import H200
from trtspec.errors import UsageError
from trtspec.gpu_kinds import as_gpu, gpu_kind, gpu_kinds, gpu_request, kind_of

FACTS = ("compute_capability", "memory_bandwidth", "dense_flops")


def test_every_figure_has_a_source():
    for kind in gpu_kinds():
        assert kind.source.startswith("https://"), kind.name
        stated = {fact for fact in FACTS if getattr(kind, fact)}
        assert set(kind.sources) == stated, kind.name
        assert all(url.startswith("https://") for url in kind.sources.values())


def test_names_and_aliases_are_each_of_one_kind():
    for kind in gpu_kinds():
        for name in (kind.name, *kind.aliases):
            assert gpu_kind(name) == kind, name


def test_memory_of_a_data_sheet_is_its_gigabytes():
    sheets = [kind for kind in gpu_kinds() if kind.memory_from == "data sheet"]
    assert sheets
    assert all(kind.memory_bytes % 10**9 == 0 for kind in sheets)


@pytest.mark.parametrize(
    ("name", "mebibytes"),
    [("H100", 81559), ("H200", 143771), ("L4", 23034), ("B200", 183359), ("T4", 15360)],
)
def test_memory_is_what_nvml_reports(name, mebibytes):
    assert gpu_kind(name).memory_bytes == mebibytes << 20
    assert gpu_kind(name).memory_from == "NVML"


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("V100 32GB", 70),
        ("T4", 75),
        ("A100 SXM 80GB", 80),
        ("A10", 86),
        ("L40S", 89),
        ("GH200 96GB", 90),
        ("GB200", 100),
        ("B300", 103),
        ("RTX 5090", 120),
    ],
)
def test_capability_is_a_number_to_compare(name, capability):
    assert gpu_kind(name).capability == capability


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("h100", "H100 SXM", None),
        ("h100x8", "H100 SXM", 8),
        ("H100 SXM x8", "H100 SXM", 8),
        ("8x l40s", "L40S", 8),
        ("l4", "L4", None),
        ("NVIDIA H100 80GB HBM3", "H100 SXM", None),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80GB", None),
        ("A100 80GB PCIe", "A100 PCIe 80GB", None),
        ("rtx4090", "RTX 4090", None),
        ("rtx 4090 x2", "RTX 4090", 2),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada", None),
        ("b300_sxm6_ac*4", "B300", 4),
    ],
)
def test_a_name_is_read_as_people_and_drivers_write_it(text, name, count):
    asked = gpu_request(text)
    assert (asked.kind.name, asked.count) == (name, count)


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("a100", ("A100 SXM 40GB", "A100 PCIe 80GB")),
        ("a100 80gb", ("A100 SXM 80GB", "A100 PCIe 80GB")),
        ("v100x4", ("V100 16GB", "V100 32GB")),
        ("gh200", ("GH200 96GB", "GH200 144GB")),
    ],
)
def test_a_name_of_several_lists_the_choices(text, choices):
    with pytest.raises(UsageError, match="one of several") as caught:
        gpu_request(text)
    (problem,) = caught.value.problems
    assert all(choice in problem.allowed for choice in choices)
    assert "A10," not in problem.allowed


@pytest.mark.parametrize("text", ["h10", "l40x", "mi300", "", "x8", "nvidia", "8x"])
def test_an_unknown_name_lists_what_is_known(text):
    with pytest.raises(UsageError, match="no GPU named") as caught:
        gpu_request(text)
    assert "H100 SXM" in caught.value.problems[0].allowed


@pytest.mark.parametrize("text", ["GTX 1080", "gtx1080", "GTX 1080 x2"])
def test_the_x_of_gtx_counts_nothing(text):
    with pytest.raises(UsageError, match=r"no GPU named '(?i:gtx ?1080)'"):
        gpu_request(text)


def test_a_near_name_is_suggested():
    with pytest.raises(UsageError) as caught:
        gpu_request("h1000")
    assert "H100 SXM" in caught.value.problems[0].action


@pytest.mark.parametrize("text", ["h100x0", "h100x2000"])
def test_a_count_has_limits(text):
    with pytest.raises(UsageError, match="asks for"):
        gpu_request(text)


def test_a_gpu_that_is_here_is_described_by_its_driver():
    kind = kind_of(H200)
    assert (kind.name, kind.memory_bytes) == ("NVIDIA H200", H200.memory_bytes)
    assert (kind.capability, kind.memory_from) == (90, "NVML")


def test_a_kind_stands_in_for_a_gpu():
    gpu = as_gpu(gpu_kind("l4"))
    assert (gpu.name, gpu.compute_capability) == ("L4", "8.9")
    assert gpu.sm_clock_mhz is None
