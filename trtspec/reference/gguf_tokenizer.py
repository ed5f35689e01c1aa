"""How the tokenizer inside a GGUF becomes tokenizer.json.

transformers converts these too, but differently from release to release: 5.0 takes
every GGUF of architecture ``llama`` for Code Llama (five tokens too many, another end
token, a begin token that the file does not ask for), and 5.24 does not read
``tokenizer.ggml.pre``, which says where numbers are split.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    processors,
)

from trtspec.models.gguf import read_gguf

_PREFIX = "tokenizer.ggml."
_LISTS = frozenset(_PREFIX + name for name in ("tokens", "token_type", "merges"))
_CHAT_TEMPLATE = "tokenizer.chat_template"
_CONTROL, _USER_DEFINED = 3, 4
"""Token types whose text is matched as a whole."""
_NAMED = {"bos": "bos", "eos": "eos", "unknown": "unk", "padding": "pad"}
"""What the file calls a token → what transformers calls it."""

_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
_SPLITS = {
    "gpt-2": _BYTES,
    "smollm": pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), _BYTES]
    ),
}
"""``tokenizer.ggml.pre`` → how text is split before merging."""


def write_tokenizer(gguf: Path, output: Path) -> bool:
    """Write tokenizer.json, its configuration and the chat template.

    :param output: the folder to write them to.
    :returns: False, and nothing is written, if the file's tokenizer is of a kind that
        is better left to transformers.
    """
    fields = read_gguf(gguf, _LISTS).fields
    known = fields.get(_PREFIX + "pre") in _SPLITS
    if fields.get(_PREFIX + "model") != "gpt2" or not known:
        return False
    _tokenizer(fields).save(str(output / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **{f"{name}_token": token for name, token in _named_tokens(fields).items()},
    }
    text = json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False)
    (output / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")
    if template := fields.get(_CHAT_TEMPLATE):
        (output / "chat_template.jinja").write_text(str(template), encoding="utf-8")
    return True


def _tokenizer(fields: Mapping[str, Any]) -> Tokenizer:
    tokens: list[str] = fields[_PREFIX + "tokens"]
    merges = [tuple(pair.split(" ")) for pair in fields[_PREFIX + "merges"]]
    vocabulary = {token: at for at, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = _SPLITS[fields[_PREFIX + "pre"]]
    tokenizer.decoder = decoders.ByteLevel()
    if fields.get(_PREFIX + "add_bos_token"):
        begin = _named_tokens(fields)["bos"]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A",
            pair=f"{begin} $A {begin} $B",
            special_tokens=[(begin, vocabulary[begin])],
        )
    for token, kind in zip(tokens, fields[_PREFIX + "token_type"], strict=True):
        if kind in (_CONTROL, _USER_DEFINED):
            special = kind == _CONTROL
            tokenizer.add_tokens([AddedToken(token, special=special, normalized=False)])
    return tokenizer


def _named_tokens(fields: Mapping[str, Any]) -> dict[str, str]:
    tokens = fields[_PREFIX + "tokens"]
    keys = {ours: f"{_PREFIX}{its}_token_id" for its, ours in _NAMED.items()}
    return {name: tokens[fields[key]] for name, key in keys.items() if key in fields}
