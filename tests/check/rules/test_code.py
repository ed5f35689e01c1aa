"""Code of a checkpoint's own is never executed; where it is needed, check says so."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL, subject
from trtspec.check.rules import code
from trtspec.check.rules.code import own_code

TABLE = """
OTHER_NAMES = OrderedDict([
        ("other", "OtherModel"),
    ]
)
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict(
    [
        ("phi3", "Phi3ForCausalLM"),
    ]
)
LATER_NAMES = OrderedDict([("later", "LaterModel"),])
"""


class Spec:
    def __init__(self, origin):
        self.origin = str(origin)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Stand in for the installed transformers; gives the path of its table."""
    monkeypatch.setattr(code, "find_spec", lambda name: Spec(tmp_path / "__init__.py"))
    table = tmp_path / "models/auto/modeling_auto.py"
    table.parent.mkdir(parents=True)
    table.write_text(TABLE)
    return table


def severities(own, **changes):
    found = subject(replace(MODEL, own_code=own), **changes)
    return [finding.severity for finding in own_code(found)]


def test_without_code_there_is_nothing_to_say(package):
    assert severities(None) == []


def test_a_type_that_transformers_knows_is_noted(package):
    assert severities("phi3") == ["note"]


@pytest.mark.parametrize("own", ["chatglm", "other", "later", "", "phi"])
def test_a_type_that_transformers_does_not_know_is_blocking(package, own):
    (finding,) = own_code(subject(replace(MODEL, own_code=own)))
    assert finding.severity == "blocking"
    assert "needs code from the checkpoint, which is never executed" in finding.what
    assert (own or "without a model_type") in finding.what


def test_without_the_table_it_is_a_warning(package):
    package.unlink()
    assert severities("chatglm") == ["warning"]
    assert severities("") == ["blocking"]


def test_without_transformers_it_is_a_warning(monkeypatch):
    monkeypatch.setattr(code, "find_spec", lambda name: None)
    assert severities("phi3") == ["warning"]


def test_the_engine_backend_is_not_concerned(package):
    assert severities("chatglm", backend="tensorrt") == []


def on_pytorch(target=None, draft=None, **changes):
    models = replace(MODEL, own_code=target), replace(MODEL, own_code=draft)
    return list(own_code(subject(*models, backend="pytorch", **changes)))


def test_on_pytorch_a_targets_code_is_not_executed():
    assert on_pytorch() == []
    (finding,) = on_pytorch("deepseek_v3")
    assert (finding.severity, finding.where) == ("note", "target.model")
    assert "not established" in finding.why


def test_on_pytorch_a_draft_models_code_may_be_executed():
    (finding,) = on_pytorch(draft="qwen3")
    assert (finding.severity, finding.where) == ("warning", "speculation.model")
    assert "may execute it" in finding.why


def test_the_installed_transformers_has_a_table_that_is_understood():
    pytest.importorskip("transformers")
    assert severities("phi3") == ["note"]
    assert severities("chatglm") == ["blocking"]
