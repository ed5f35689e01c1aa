"""Arms that differ in more than speculation, and baselines that are none."""

from __future__ import annotations

import pytest

from tests.bench.doubts.scenes import arm, found, varied
from tests.bench.fakes import plan
from trtspec.bench.arms import Endpoint, Subject


def with_arms(**changes: dict[str, object]):
    """A plan whose arms are changed by name."""
    of = plan(8)
    arms = tuple(a.model_copy(update=changes.get(a.name, {})) for a in of.arms)
    return of.model_copy(update={"arms": arms})


def served(model: str = "m", api: str = "chat", host: str = "a") -> dict[str, object]:
    url = f"http://{host}:8000"
    return {"artifact": None, "endpoint": Endpoint(url=url, model=model, api=api)}


def recipe(**changes: object) -> dict[str, object]:
    target = {"model": "./target", "dtype": "bfloat16", "quantization": "none"}
    whole = {"backend": "reference", "target": target, **changes}
    return {"artifact": Subject(name="toy", fingerprint="00", recipe=whole)}


@pytest.mark.parametrize(
    ("key", "value"),
    [("backend", "pytorch"), ("dtype", "float16"), ("tensorrt_llm", "1.1.0")],
)
def test_another_engine_is_fatal(key, value):
    base = {"backend": "tensorrt", "dtype": "float32", "tensorrt_llm": "1.0.0"}
    of = with_arms(off={"engine": base}, on={"engine": {**base, key: value}})
    doubt = found(arm("on", varied), of=of)["different-engines"]
    assert doubt.fatal
    assert f"{key} {value} and {base[key]}" in doubt.what


def test_what_only_one_engine_tells_is_no_difference():
    more = {"device": "fake", "dtype": "float32", "threads": 1, "torch": "2.13"}
    assert found(arm("on", varied), of=with_arms(on={"engine": more})) == {}


@pytest.mark.parametrize(
    "changed",
    [{"backend": "pytorch"}, {"target": {"model": "./target", "dtype": "float32"}}],
)
def test_another_backend_or_target_in_the_recipe_is_fatal(changed):
    of = with_arms(off=recipe(), on=recipe(**changed))
    assert found(arm("on", varied), of=of)["different-engines"].fatal


def test_a_server_against_an_engine_in_this_process_is_fatal():
    doubt = found(arm("on", varied), of=with_arms(on=served()))["different-engines"]
    assert "a server and an engine in this process" in doubt.what


def test_chat_against_completions_is_fatal():
    of = with_arms(on=served(), off=served(api="completions"))
    assert "different-engines" in found(arm("on", varied), of=of)


def test_another_model_name_is_told_but_not_fatal():
    of = with_arms(on=served("fast"), off=served("plain"))
    doubts = found(arm("on", varied), of=of)
    assert not doubts["different-model-names"].fatal
    assert "different-engines" not in doubts


def test_a_baseline_that_drafts_is_fatal():
    doubts = found(arm("on", varied), arm("off", varied))
    assert doubts["baseline-drafts"].fatal


def test_a_server_that_does_not_tell_leaves_the_baseline_unverified():
    of = with_arms(on=served(), off=served(host="b"))
    silent = arm("off", lambda b, p: {"steps": None, "drafted": None, "accepted": None})
    doubt = found(arm("on", varied), silent, of)["baseline-unverified"]
    assert not doubt.fatal
    assert "http://b:8000" in doubt.what
    assert "baseline-unverified" not in found(arm("on", varied), arm("off"), of)
