"""A recipe for TensorRT-LLM has a twin that backend reference can trace."""

from __future__ import annotations

from types import SimpleNamespace

import psutil

from trtspec.recipe import Recipe
from trtspec.tune.twin import reference_twin, too_large


def recipe(**changes) -> Recipe:
    document = {
        "schema": "trtspec/v1",
        "name": "toy",
        "backend": "pytorch",
        "target": {"model": "./target", "dtype": "bfloat16"},
        "speculation": {"method": "ngram", "draft_length": 4},
    }
    return Recipe.model_validate({**document, **changes})


def test_a_recipe_of_backend_reference_is_its_own():
    own = recipe(backend="reference")
    assert reference_twin(own) == (own, ())


def test_the_twin_differs_in_its_backend_only():
    twin, notes = reference_twin(recipe())
    assert notes == ()
    assert twin == recipe(backend="reference")


def test_what_may_change_the_answers_is_told():
    target = {"model": "./target", "quantization": "fp8", "tensor_parallel": 4}
    twin, notes = reference_twin(recipe(target=target))
    assert twin.target.quantization == "none"
    assert twin.target.tensor_parallel == 1
    (note,) = notes
    assert "fp8" in note
    Recipe.model_validate(twin.model_dump(by_alias=True))


def test_a_target_that_fills_the_memory_is_too_large(tmp_path, monkeypatch):
    (tmp_path / "a.safetensors").write_bytes(bytes(600))
    (tmp_path / "b.safetensors").write_bytes(bytes(300))
    (tmp_path / "tokenizer.json").write_bytes(bytes(5000))

    def available(size):
        monkeypatch.setattr(
            psutil, "virtual_memory", lambda: SimpleNamespace(available=size)
        )
        return too_large(tmp_path)

    assert available(1000) == ""
    assert "GB of memory are available" in available(999)
