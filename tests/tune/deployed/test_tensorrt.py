"""``trtspec tune`` on recipes of backend tensorrt, on stand-ins of its executor."""

from __future__ import annotations

import json

import pytest

from tests.reference.artifacts import TEMPLATE
from tests.trtllm.engine.projects import write_project
from tests.tune.deployed.places import make_place
from trtspec.bench import conditions
from trtspec.gpus import VISIBLE
from trtspec.recipe import load_recipe

NGRAM = {"method": "ngram", "draft_length": 2, "max_matching_ngram": 2}
PROMPTS = "".join(
    json.dumps({"id": f"p{n}", "prompt": text}) + "\n"
    for n, text in enumerate(("t3 t4", "t5", "t4 t4 t3"))
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_place(tmp_path_factory.mktemp("tensorrt"))


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(place.folder / "cache"))
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.delenv(VISIBLE, raising=False)
    monkeypatch.chdir(place.folder)
    place.standin.activate(monkeypatch)


def arms(place, output):
    text = (place.folder / output / "confirmation/result.json").read_text()
    return {arm["name"]: arm for arm in json.loads(text)["plan"]["arms"]}


def test_drafts_from_outside_need_one_engine(place, capfd):
    recipe = place.write("outside", backend="tensorrt", **NGRAM)
    code = place.tune(recipe, "outside")
    _, err = capfd.readouterr()
    assert code == 6, err
    document = place.document("outside")
    assert document["conditions"]["runner"]["backend"] == "tensorrt"
    found = arms(place, "outside")
    assert len({arm["artifact"]["fingerprint"] for arm in found.values()}) == 1
    assert found["off"]["speculation"] == {"method": "none"}
    items = {item["part"]: item for item in document["bill"]["items"]}
    assert items["costs"]["engine_starts"] == items["confirmation"]["engine_starts"] + 1
    tuned = load_recipe(place.folder / "outside.tuned.yaml").recipe
    assert tuned.backend == "tensorrt"
    assert tuned.tuned.costs == "measured"


def test_the_replayed_acceptance_is_what_the_engine_had(place, capfd):
    recipe = place.write("exact", backend="tensorrt", **NGRAM)
    code = place.tune(recipe, "exact", "--exhaustive")
    _, err = capfd.readouterr()
    assert code == 6, err
    document = place.document("exact")
    assert not any("acceptance length" in note for note in document["notes"])
    compared = 0
    for load in document["candidates"][0]["loads"]:
        if load["measured"] and load["measured"]["acceptance_length"]:
            told, seen = load["acceptance_length"], load["measured"]
            assert seen["acceptance_length"] == pytest.approx(told)
            compared += told > 1
    assert compared


def test_the_engines_room_bounds_what_is_looked_at(place, capfd):
    path = place.write("room", backend="tensorrt", **NGRAM)
    path.write_text(path.read_text() + "engine: {max_draft_length: 2}\n")
    code = place.tune(path, "room", "--no-confirm")
    _, err = capfd.readouterr()
    assert code in (0, 6), err
    (row, *_) = place.document("room")["candidates"][0]["surface"].values()
    assert [point["length"] for point in row] == [0, 1, 2]


@pytest.fixture
def heads(place):
    """A recipe with Medusa heads, whose trees are built into engines."""
    folder = place.folder / "heads"
    if not folder.exists():
        folder.mkdir()
        (folder / "template.jinja").write_text(TEMPLATE)
        (folder / "prompts.jsonl").write_text(PROMPTS)
        target = {"chat_template": "template.jinja"}
        tree = {"tree": [[0], [1]], "num_heads": 2}
        write_project(folder, "medusa", name="heads", target=target, **tree)
    path = folder / "heads.yaml"
    document = json.loads(path.read_text())
    document["workload"] = {"prompts": "prompts.jsonl"}
    path.write_text(json.dumps(document, indent=1))
    return path


def test_each_tree_is_an_engine_and_so_is_the_off_arm(place, heads, capfd):
    code = place.tune(heads, "trees")
    _, err = capfd.readouterr()
    assert code == 6, err
    document = place.document("trees")
    (candidate,) = document["candidates"]
    sizes = [point["length"] for point in candidate["surface"]["1"][1:]]
    found = arms(place, "trees")
    assert found["off"]["artifact"]["recipe"]["speculation"]["method"] == "none"
    trees = {
        name: arm["artifact"]["recipe"]["speculation"]["tree"]
        for name, arm in found.items()
        if not name.startswith("off")
    }
    assert trees
    assert {len(tree) for tree in trees.values()} <= set(sizes)
    items = {item["part"]: item for item in document["bill"]["items"]}
    # the target here; plain decoding, and up to three trees, there
    assert items["costs"]["engine_starts"] == 2 + min(3, len(sizes))
