"""Whatever stands in tokenizer files, there is a verdict or a message."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.errors import UsageError
from trtspec.models.tokenizer import compare_tokenizers

KEYS = st.sampled_from(
    [
        *("model", "vocab", "added_tokens", "content", "id", "special", "merges"),
        *("post_processor", "processors", "single", "SpecialToken"),
        *("bos_token", "eos_token", "add_bos_token", "chat_template", "template"),
        *("eos_token_id", "vocab_size", "text_config", "name"),
    ]
)
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 9), st.text(max_size=3), st.floats()
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=8,
)
FILES = st.dictionaries(
    st.sampled_from(
        [
            *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
            *("generation_config.json", "config.json", "chat_template.json"),
            *("vocab.json", "added_tokens.json"),
        ]
    ),
    st.dictionaries(KEYS, VALUES, max_size=4),
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(target=FILES, draft=FILES)
def test_two_folders_of_any_content_are_compared_or_refused(target, draft):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side, files in {"target": target, "draft": draft}.items():
            (folder / side).mkdir()
            for file, content in files.items():
                (folder / side / file).write_text(json.dumps(content))
        outcome = compared(folder / "target", folder / "draft")
    if isinstance(outcome, UsageError):
        assert outcome.problems[0].where.startswith(name)
    else:
        assert (outcome.ids is None) == (None in outcome.entries)


def compared(target, draft):
    """Compare, and give a refusal as it is."""
    try:
        return compare_tokenizers(target, draft)
    except UsageError as error:
        return error
