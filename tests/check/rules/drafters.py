"""Drafters of each kind that fit the target of ``tests.check.samples``."""

from dataclasses import replace
from pathlib import Path

from tests.check.samples import MODEL
from trtspec.models.drafter import DrafterInfo

MEDUSA = DrafterInfo(
    kind="medusa",
    family=None,
    dtype="float16",
    weight_bytes=1000,
    format="safetensors",
    files=("medusa_lm_head.safetensors",),
    directory=Path("drafter"),
    heads=3,
    head_layers=1,
    hidden_size=MODEL.hidden_size,
    vocabulary_rows=MODEL.vocabulary_rows,
)
EAGLE = replace(MEDUSA, kind="eagle", heads=None, head_layers=None, has_fc_bias=False)
EAGLE3 = replace(
    MEDUSA, kind="eagle3", heads=None, captured_states=3, target_layers=(1, 8, 15)
)
DFLASH = replace(
    MEDUSA,
    kind="dflash",
    family="qwen3",
    heads=None,
    captured_states=3,
    target_layers=(1, 8, 15),
    block_size=16,
    mask_token=7,
)


def only(findings):
    """Give the one finding that there is."""
    (finding,) = findings
    return finding
