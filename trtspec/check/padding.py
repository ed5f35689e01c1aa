"""How to give a draft model as many vocabulary rows as its target has."""

from __future__ import annotations

from trtspec.models.files import SETTINGS
from trtspec.models.info import ModelInfo

_COMMAND = """\
python - <<'END'
from pathlib import Path
from shutil import copy

from torch import no_grad
from transformers import AutoModelForCausalLM

draft, padded, rows = Path({draft!r}), Path({padded!r}), {rows}
model = AutoModelForCausalLM.from_pretrained(draft, dtype="auto")
before = model.get_input_embeddings().weight.shape[0]
model.resize_token_embeddings(rows, mean_resizing=False)
with no_grad():
    for part in (model.get_input_embeddings(), model.get_output_embeddings()):
        part.weight[before:] = 0
model.save_pretrained(padded)
for pattern in {files}:
    for file in draft.glob(pattern):
        copy(file, padded)
END"""

_TOKENIZER = tuple(
    name for name in SETTINGS if "config.json" not in name and "quant" not in name
)


def padding_command(reference: str, target: ModelInfo, draft: ModelInfo) -> str:
    """Give a command that writes the draft model with the target's vocabulary rows.

    Rows that are added are zero; rows that are cut off have no token. (As the author of
    https://github.com/vllm-project/vllm/issues/5203 did by hand.)

    :param reference: of the draft model, as the recipe has it.
    :returns: empty where a token of the draft model would lose its row.
    """
    rows = target.vocabulary_rows
    if (draft.tokenizer_entries or draft.vocabulary_rows) > rows:
        return ""
    name = reference.rstrip("/").rsplit("/", 1)[-1]
    return _COMMAND.format(
        draft=str(draft.directory or reference),
        padded=f"{name}-{rows}-rows",
        rows=rows,
        files=_TOKENIZER,
    )
