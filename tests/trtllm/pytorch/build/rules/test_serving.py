"""Whether the target can be split, and served as the recipe says."""

from pathlib import Path

import pytest

from tests.models.tiny import write_checkpoint
from tests.trtllm.pytorch.build.rules.findings import found, only, subject_of
from trtspec.trtllm.installation import Absence
from trtspec.trtllm.pytorch.build.rules.serving import (
    chat_template_is_served,
    float32_is_unsettled,
    heads_divide,
    server_is_here,
)

PACKAGE = Path("tensorrt_llm")


def test_tensor_parallelism_must_divide_the_heads(tmp_path):
    subject = subject_of(tmp_path, target={"tensor_parallel": 4})
    finding = only(heads_divide, subject)
    assert (finding.severity, finding.where) == ("blocking", "target.tensor_parallel")
    assert "tensor_parallel 4 does not divide the 2 attention heads" in finding.what


def test_draft_model_is_split_over_the_same_gpus(tmp_path):
    write_checkpoint(tmp_path / "draft_target", num_attention_heads=1, head_dim=8)
    subject = subject_of(tmp_path, "draft_target", target={"tensor_parallel": 2})
    finding = only(heads_divide, subject)
    assert "the 1 attention heads of the draft model" in finding.what


@pytest.mark.parametrize(
    ("size", "pytorch"), [(1, {}), (2, {}), (4, {"attention_dp": True})]
)
def test_heads_that_are_divided_or_not_split_pass(tmp_path, size, pytorch):
    subject = subject_of(tmp_path, target={"tensor_parallel": size}, pytorch=pytorch)
    assert not found(heads_divide, subject)


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_chat_template_is_refused_where_the_server_takes_none(tmp_path, version):
    (tmp_path / "t.jinja").write_text("x")
    subject = subject_of(tmp_path, target={"chat_template": "t.jinja"})
    finding = only(chat_template_is_served, subject, version)
    assert (finding.severity, finding.where) == ("blocking", "target.chat_template")
    assert f"TensorRT-LLM {version} takes no chat template" in finding.what
    assert "1.2 or later" in finding.action
    for later in ("1.2.1", "1.4.0rc4", None, "1.3.0rc5"):
        assert not found(chat_template_is_served, subject, later)


def test_models_own_template_is_served_everywhere(tmp_path):
    assert not found(chat_template_is_served, subject_of(tmp_path), "1.0.0")


def test_without_the_server_it_runs_in_process_only(tmp_path):
    absences = (Absence("server", "no trtllm-serve on PATH"),)
    finding = only(
        server_is_here, subject_of(tmp_path), package=PACKAGE, absences=absences
    )
    assert (finding.severity, finding.where) == ("warning", "backend")
    assert "run in process, but not served" in finding.what
    subject = subject_of(tmp_path)
    server = Path("/bin/trtllm-serve")
    assert not found(server_is_here, subject, package=PACKAGE, server=server)
    assert not found(server_is_here, subject, package=PACKAGE, assumed=True)


def test_float32_is_noted(tmp_path):
    finding = only(
        float32_is_unsettled, subject_of(tmp_path, target={"dtype": "float32"})
    )
    assert (finding.severity, finding.where) == ("note", "target.dtype")
    assert not found(float32_is_unsettled, subject_of(tmp_path))
