"""A head that turns its positions otherwise than its target is noted."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL, subject
from tests.models.drafters import write_eagle3, write_medusa
from trtspec.check.rules.rotary import rotary_encoding
from trtspec.models.drafter import describe_drafter

TARGET = replace(MODEL, rope_theta=500000.0)


def found(head, target=TARGET, kind="eagle3"):
    return list(
        rotary_encoding(replace(subject(target), drafter=describe_drafter(head, kind)))
    )


@pytest.mark.parametrize("base", [None, 10000.0])
def test_another_base_is_noted_with_both(tmp_path, base):
    named = {} if base is None else {"rope_theta": base}
    (finding,) = found(write_eagle3(tmp_path, **named))
    assert (finding.rule, finding.severity) == ("rotary-encoding", "note")
    assert "base 10000" in finding.what
    assert finding.values["target"]["rope_theta"] == 500000.0
    assert finding.values["drafter"]["rope_theta"] == base


def test_the_same_base_and_heads_without_positions_pass(tmp_path):
    assert not found(write_eagle3(tmp_path / "same", rope_theta=500000.0))
    assert not found(write_eagle3(tmp_path / "none"), MODEL)
    assert not found(write_medusa(tmp_path / "medusa"), kind="medusa")
