"""Drafters are told by their tensors, found in a table, or inside the target."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models import drafters as kinds
from tests.models.tiny import tensors, write_checkpoint
from trtspec.advise.drafters import find_drafters
from trtspec.advise.target import look_at, path_in_recipe
from trtspec.errors import UsageError


def found(directory, *given, target="./target"):
    return find_drafters(
        look_at(target, directory, directory), given, directory, directory
    )


@pytest.fixture
def directory(tmp_path):
    write_checkpoint(tmp_path / "target")
    return tmp_path


@pytest.mark.parametrize(
    ("write", "method"),
    [
        (kinds.write_medusa, "medusa"),
        (kinds.write_eagle, "eagle"),
        (kinds.write_eagle3, "eagle3"),
        (kinds.write_dflash, "dflash"),
        (kinds.write_redrafter, "redrafter"),
        (kinds.write_mtp, "mtp"),
        (write_checkpoint, "draft_target"),
    ],
    ids=["medusa", "eagle", "eagle3", "dflash", "redrafter", "mtp", "model"],
)
def test_a_given_directory_is_told_by_what_it_holds(directory, write, method):
    write(directory / "drafter")
    (one,) = found(directory, "drafter")
    assert (one.method, one.model, one.origin) == (method, "./drafter", "given")
    assert one.is_here
    assert one.told_by


def test_a_small_model_with_a_mask_token_is_for_pard(directory):
    write_checkpoint(directory / "drafter", pard_token=15)
    (one,) = found(directory, "drafter")
    assert one.method == "pard"
    assert "15" in one.told_by


def test_what_tells_nothing_is_refused_with_its_place(directory):
    (directory / "drafter").mkdir()
    with pytest.raises(UsageError) as error:
        found(directory, "drafter")
    assert "drafter" in str(error.value)


def test_a_directory_that_is_not_there_is_refused(directory):
    with pytest.raises(UsageError, match="there is no directory"):
        found(directory, "./nowhere")


def test_a_known_id_needs_no_copy_here(directory):
    (one,) = found(directory, "amd/PARD-Llama-3.2-1B")
    assert (one.method, one.is_here) == ("pard", False)


def test_an_unknown_id_that_is_not_here_says_how_to_get_it(directory):
    with pytest.raises(UsageError, match="hf download some/thing"):
        found(directory, "some/thing")


def test_heads_inside_the_target_are_found_among_its_tensors(tmp_path):
    weights = tensors(**kinds.mtp_shapes(layers=2))
    write_checkpoint(tmp_path / "t", weights=weights, num_nextn_predict_layers=1)
    (one,) = found(tmp_path, target="./t")
    assert (one.method, one.model, one.origin) == ("mtp", None, "inside")
    assert "1 next-token head " in one.told_by


def test_heads_that_only_the_configuration_names_are_not_counted(tmp_path):
    write_checkpoint(tmp_path / "t", num_nextn_predict_layers=1)
    assert found(tmp_path, target="./t") == ()


def test_published_drafters_follow_from_the_id():
    named = found(Path(), target="meta-llama/Llama-3.3-70B-Instruct")
    assert named[0].model == "yuhuili/EAGLE3-LLaMA3.3-Instruct-70B"
    assert {one.origin for one in named} == {"published"}
    assert not any(one.is_here for one in named)


@pytest.mark.parametrize(
    ("text", "folder", "expected"),
    [
        ("model", "", "./model"),
        ("./model", "", "./model"),
        ("model", "recipes", "../model"),
        ("../model", "", "../model"),
        ("/models/one", "recipes", "/models/one"),
        ("~/one", "recipes", "~/one"),
    ],
)
def test_a_recipe_names_a_path_from_its_own_folder(tmp_path, text, folder, expected):
    assert path_in_recipe(text, tmp_path, tmp_path / folder) == expected
