"""Which artifact stands beside one that drafts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.build.progress import SILENT
from trtspec.cli.serve_off import off_artifact, require_pair, without_speculation
from trtspec.errors import UsageError

NONE = {"method": "none"}


def artifact(files=("a",), **fields):
    source = {"target": SimpleNamespace(files=dict.fromkeys(files, "hash"))}
    return SimpleNamespace(
        recipe=recipe(**fields), manifest=SimpleNamespace(source=source)
    )


def test_off_recipe_is_the_same_without_speculation():
    on = recipe(tensor_parallel=2, penalties=True)
    off = without_speculation(on)
    assert (off.name, off.speculation.method) == ("tiny-off", "none")
    assert off.target == on.target
    assert off.limits == on.limits
    assert off.pytorch == on.pytorch
    long = recipe().model_copy(update={"name": "x" * 80})
    assert without_speculation(long).name == "x" * 76 + "-off"


def test_pair_of_one_target_is_taken():
    require_pair(artifact(), artifact(speculation=NONE))


@pytest.mark.parametrize(
    ("on", "off", "message"),
    [
        ({"speculation": NONE}, {"speculation": NONE}, "does not draft"),
        ({}, {}, "it drafts, with ngram"),
        ({}, {"speculation": NONE, "files": ("b",)}, "another target model"),
        ({"template": "x"}, {"speculation": NONE}, "another target model"),
    ],
)
def test_pairs_that_do_not_belong_together_are_refused(on, off, message):
    with pytest.raises(UsageError, match=message):
        require_pair(artifact(**on), artifact(**off))


def test_without_the_options_there_is_no_off_pool(tmp_path):
    asked = {"off": None, "with_off": False, "engines": str(tmp_path)}
    assert off_artifact(tmp_path, artifact(), asked, SILENT) is None
    asked["with_off"] = True
    with pytest.raises(UsageError, match="off pool by itself"):
        off_artifact(tmp_path, artifact(speculation=NONE), asked, SILENT)
