"""A hub model is found in the local cache, downloaded, or refused with the ways out."""

import importlib
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants, errors

from tests.models.drafters import write_eagle, write_medusa, write_redrafter
from tests.models.tiny import write_checkpoint, write_config, write_pickled
from trtspec.errors import UsageError
from trtspec.models.hub import (
    _UNWANTED,
    _cache,
    cached_snapshot,
    download_snapshot,
    is_hub_id,
    wanted_patterns,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENVIRONMENT = ("XDG_CACHE_HOME", "HF_HOME", "HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE")


def put_in_cache(name="org/name", revision="main", write=write_checkpoint):
    """Lay a model out as huggingface_hub does: refs, snapshots, blobs."""
    repository = _cache() / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / COMMIT
    write(snapshot)
    blobs = repository / "blobs"
    blobs.mkdir()
    for path in list(snapshot.iterdir()):
        path.rename(blobs / path.name)
        path.symlink_to(Path("../../blobs") / path.name)
    reference = repository / "refs" / revision
    reference.parent.mkdir(parents=True)
    reference.write_text(COMMIT)
    return snapshot


def response(status):
    """Make a response such as huggingface_hub's client gives."""
    client = importlib.import_module(errors.HTTPError.__module__.partition(".")[0])
    request = client.Request("GET", "https://huggingface.co/org/name")
    if client.__name__ != "requests":
        return client.Response(status, request=request)
    answer = client.Response()  # huggingface_hub before 1.0
    answer.status_code, answer.request = status, request.prepare()
    return answer


@pytest.fixture
def hub(monkeypatch):
    """Replace the download: by a function, or by an error to raise."""

    def replace(answer, files=("model.safetensors",)):
        def model_info(name, revision):
            if isinstance(answer, Exception):
                raise answer
            siblings = [SimpleNamespace(rfilename=file) for file in files]
            return SimpleNamespace(siblings=siblings)

        def snapshot_download(name, **options):
            if isinstance(answer, Exception):
                raise answer
            return str(answer(name, **options))

        monkeypatch.setattr("huggingface_hub.model_info", model_info)
        monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)

    return replace


def chosen(names, patterns):
    """Choose files as huggingface_hub does by patterns."""
    from huggingface_hub.utils import filter_repo_objects

    return list(
        filter_repo_objects(names, allow_patterns=patterns, ignore_patterns=_UNWANTED)
    )


def refusal(name="org/name", revision=None):
    with pytest.raises(UsageError) as caught:
        download_snapshot(name, revision, lambda line: None)
    problem = caught.value.problems[0]
    assert name in problem.what
    return problem


@pytest.mark.parametrize("name", ["gpt2", "org/name", "org/name-1.5_b", "0x/y"])
def test_names_and_names_of_organisations_are_hub_ids(name):
    assert is_hub_id(name)


@pytest.mark.parametrize(
    "name", ["", "a/b/c", "/a", "a/", ".a/b", "a b", "a/../b", "a\n"]
)
def test_other_texts_are_not(name):
    assert not is_hub_id(name)


def test_a_cached_model_is_found_by_its_default_branch():
    snapshot = put_in_cache()
    assert cached_snapshot("org/name", None) == snapshot
    assert cached_snapshot("org/name", "main") == snapshot


def test_a_cached_model_is_found_by_tag_and_by_commit():
    snapshot = put_in_cache(revision="refs/pr/1")
    assert cached_snapshot("org/name", "refs/pr/1") == snapshot
    assert cached_snapshot("org/name", COMMIT) == snapshot
    assert cached_snapshot("org/name", None) is None


def test_an_absent_model_is_not_found():
    assert cached_snapshot("org/name", None) is None


def test_half_a_cached_model_is_not_found():
    snapshot = put_in_cache(write=write_config)
    assert snapshot.is_dir()
    assert cached_snapshot("org/name", None) is None


def test_a_link_to_a_lost_blob_is_not_found():
    snapshot = put_in_cache()
    (snapshot / "model.safetensors").resolve().unlink()
    assert cached_snapshot("org/name", None) is None


def test_huggingface_hub_finds_the_same_snapshot():
    from huggingface_hub import snapshot_download

    snapshot = put_in_cache()
    theirs = snapshot_download("org/name", cache_dir=_cache(), local_files_only=True)
    assert Path(theirs) == snapshot


@pytest.mark.parametrize("count", range(len(ENVIRONMENT) + 1))
def test_the_cache_is_where_huggingface_hub_has_it(monkeypatch, tmp_path, count):
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    for name in ENVIRONMENT[:count]:
        monkeypatch.setenv(name, str(tmp_path / name))
    try:
        assert Path(importlib.reload(constants).HF_HUB_CACHE) == _cache()
    finally:
        monkeypatch.undo()
        importlib.reload(constants)


def test_a_download_takes_what_transformers_loads_and_says_so(hub, tmp_path):
    asked = {}

    def answer(name, **options):
        asked.update(options, name=name)
        return write_checkpoint(tmp_path / "new")

    hub(answer)
    said = []
    assert download_snapshot("org/name", "v2", said.append) == tmp_path / "new"
    assert said == ["downloading model 'org/name' at revision 'v2' from the Hugging "
                    "Face hub"]  # fmt: skip
    assert (asked["name"], asked["revision"]) == ("org/name", "v2")

    wanted = ["config.json", "model.safetensors", "tokenizer.model", "merges.txt",
              "chat_template.jinja", "model.safetensors.index.json"]  # fmt: skip
    unwanted = ["pytorch_model.bin", "original/model.safetensors", "onnx/config.json",
                "consolidated.00.safetensors", "model.gguf", "code.py"]  # fmt: skip
    assert chosen([*wanted, *unwanted], asked["allow_patterns"]) == wanted
    assert asked["ignore_patterns"] == _UNWANTED


def test_a_download_without_safetensors_is_refused_with_the_way_to_convert(
    hub, tmp_path
):
    write_config(tmp_path / "new")
    hub(lambda *args, **options: tmp_path / "new")
    problem = refusal()
    assert "is not complete" in problem.what
    assert problem.where == str(tmp_path / "new")
    assert "convert" in problem.action


def test_a_gated_model_is_told_with_its_page(hub):
    hub(errors.GatedRepoError("403", response=response(403)))
    problem = refusal()
    assert "gated" in problem.what
    assert "https://huggingface.co/org/name" in problem.action


def test_a_missing_revision_is_told_from_a_missing_model(hub):
    hub(errors.RevisionNotFoundError("404", response=response(404)))
    assert "no revision 'v9'" in refusal(revision="v9").what
    hub(errors.RepositoryNotFoundError("404", response=response(404)))
    problem = refusal()
    assert "has no model 'org/name'" in problem.what
    assert "give its directory" in problem.action


@pytest.mark.parametrize(
    "error",
    [TimeoutError("timed out"), RuntimeError("client closed\nmore"), OSError(28)],
)
def test_any_other_failure_is_told_in_one_line_with_the_ways_out(hub, error):
    hub(error)
    problem = refusal()
    assert type(error).__name__ in problem.what
    assert "\n" not in problem.what
    assert "network connection" in problem.action
    assert "give its directory" in problem.action


def test_offline_mode_is_named_as_the_cause(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "is_offline_mode", lambda: True, raising=False)
    problem = refusal()
    assert "HF_HUB_OFFLINE is set" in problem.what
    assert "unset HF_HUB_OFFLINE" in problem.action


def test_ctrl_c_during_a_download_is_not_swallowed(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("huggingface_hub.model_info", interrupted)
    with pytest.raises(KeyboardInterrupt):
        download_snapshot("org/name", None, lambda line: None)


def test_a_damaged_index_in_the_cache_is_no_complete_model():
    snapshot = put_in_cache()
    shutil.copy(snapshot / "config.json", snapshot / "model.safetensors.index.json")
    (snapshot / "model.safetensors").unlink()
    assert cached_snapshot("org/name", None) is None


PICKLED = ["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"]
REST = ["optimizer.bin", "training_args.bin", "flax_model.msgpack", "README.md"]


def test_pickled_weights_are_chosen_only_without_safetensors():
    names = ["config.json", "tokenizer.model", *PICKLED, *REST]
    wanted = ["config.json", "tokenizer.model", *PICKLED]
    assert chosen(names, wanted_patterns(names, "model", "tensorrt_llm")) == wanted
    names.append("model.safetensors")
    weights = set(chosen(names, wanted_patterns(names, "model", "tensorrt_llm"))) - {
        *PICKLED[1:]
    }
    assert weights == {"config.json", "tokenizer.model", "model.safetensors"}


@pytest.mark.parametrize(
    ("kind", "offered", "weights"),
    [
        ("medusa", ["medusa_lm_head.pt"], "medusa_lm_head.pt"),
        (
            "medusa",
            ["medusa_lm_head.pt", "medusa_lm_head.safetensors"],
            "medusa_lm_head.safetensors",
        ),
        ("eagle", ["pytorch_model.bin"], "pytorch_model.bin"),
        ("eagle", ["pytorch_model.bin", "model.safetensors"], "model.safetensors"),
        ("eagle3", ["pytorch_model.bin"], "pytorch_model.bin"),
        ("dflash", ["model.safetensors", "dflash.py"], "model.safetensors"),
        ("redrafter", ["model.pt"], "model.pt"),
        ("redrafter", ["model.pt", "model.safetensors"], "model.safetensors"),
    ],
)
def test_of_a_drafter_one_form_of_the_weights_is_chosen(kind, offered, weights):
    names = ["config.json", "tokenizer.model", *offered, *REST]
    patterns = wanted_patterns(names, kind, "tensorrt_llm")
    assert chosen(names, patterns) == ["config.json", weights]


@pytest.mark.parametrize(
    ("kind", "write"),
    [("medusa", write_medusa), ("eagle", write_eagle), ("redrafter", write_redrafter)],
)
def test_a_cached_drafter_is_found_as_what_it_is(kind, write):
    snapshot = put_in_cache(write=write)
    assert cached_snapshot("org/name", None, kind) == snapshot
    assert cached_snapshot("org/name", None) is None


def test_a_cached_model_with_pickled_weights_is_found():
    snapshot = put_in_cache(write=write_pickled)
    assert cached_snapshot("org/name", None) == snapshot


def test_a_drafter_is_downloaded_by_its_kind(hub, tmp_path):
    hub(lambda *a, **o: write_medusa(tmp_path / "new"), ["medusa_lm_head.safetensors"])
    found = download_snapshot("org/name", None, lambda line: None, "medusa")
    assert found == tmp_path / "new"
    with pytest.raises(UsageError, match="eagle weights are missing"):
        download_snapshot("org/name", None, lambda line: None, "eagle")


@pytest.mark.parametrize(
    ("kind", "offered", "weights"),
    [
        ("medusa", ["medusa_lm_head.pt", "medusa_lm_head.safetensors"],
         ["medusa_lm_head.safetensors"]),
        ("medusa", ["model.safetensors"], ["model.safetensors"]),
        ("medusa", ["model.safetensors.index.json"],
         ["*.safetensors", "model.safetensors.index.json"]),
        ("redrafter", ["model.pt"], ["model.pt"]),
        ("mtp", ["model.safetensors"],
         ["*.safetensors", "model.safetensors.index.json"]),
    ],
)  # fmt: skip
def test_the_reference_engine_has_its_own_choice(kind, offered, weights):
    settings = ["config.json", "hf_quant_config.json"]
    wanted = wanted_patterns([*offered, "README.md"], kind, "reference")
    assert wanted == [*settings, *weights]
