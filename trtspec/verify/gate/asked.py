"""What the requests are that a verdict is about: how they sample, what else they ask.

Fields go by the names of requests to OpenAI-compatible servers; values that ask for
nothing are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trtspec.recipe.asked_controls import NEUTRAL, asked_controls, asked_sampling
from trtspec.recipe.request_names import CONTROLS, SENT_BY_TRTSPEC
from trtspec.recipe.schema import Recipe
from trtspec.verify.gate.result import Mode

FATES_OF: Mapping[str, str] = {
    "logit_bias": "embedding_bias",
    "top_logprobs": "logprobs",
    "bad_words": "bad",
    "min_new_tokens": "min_tokens",
    "response_format": "guided_decoding",
    "guided_json": "guided_decoding",
    "guided_regex": "guided_decoding",
    "guided_choice": "guided_decoding",
    "guided_grammar": "guided_decoding",
    "structured_outputs": "guided_decoding",
    "logits_processors": "logits_processor",
}
"""Field of a request → the field of TensorRT-LLM's ``SamplingParams`` it becomes."""

PENALTIES = ("repetition_penalty", "presence_penalty", "frequency_penalty")
GUIDED = "guided_decoding"
_WORDS_ONLY = frozenset(
    ("tools", "tool_choice", "functions", "function_call", "parallel_tool_calls")
)
"""Fields that reach the prompt; whether they guide decoding is the server's choice."""
_HARMLESS = frozenset(
    (
        *("stop_token_ids", "include_stop_str_in_output", "truncate_prompt_tokens"),
        *("detokenize", "skip_special_tokens", "spaces_between_special_tokens"),
        *("add_special_tokens", "chat_template_kwargs", "reasoning_effort"),
    )
)
"""Fields of the text around the tokens, not of how they are chosen."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The requests that a verdict is about.

    :param temperature: None if requests leave it out, and the server's default counts.
    :param controls: further fields, with a value as it is written.
    :param where: where requests were read from.
    """

    temperature: float | None = 0.0
    top_k: int = 0
    top_p: float = 1.0
    controls: Mapping[str, object] = field(default_factory=dict)
    where: str = "requests"

    def mode(self, *, ties_share: bool = False) -> Mode:
        """Greedy where one token is left to choose from.

        :param ties_share: whether top-k 1 keeps all that tie with the likeliest, as the
            reference engine does.
        """
        one_left = self.temperature == 0.0 or (self.top_k == 1 and not ties_share)
        return "greedy" if one_left else "sampled"

    @classmethod
    def by_recipe(cls, recipe: Recipe, prompts: Path | None = None) -> Asked:
        """Take a recipe's sampling, and what the lines of its workload ask besides.

        A temperature above 0 in the workload counts although the recipe is greedy.

        :raises OSError: if the file of prompts cannot be read.
        """
        ours = recipe.sampling
        controls: dict[str, object] = {}
        temperature, where = ours.temperature, "sampling of the recipe"
        if prompts is not None:
            where = str(prompts)
            controls = {
                name: one.values[0]
                for name, one in asked_controls(prompts).items()
                if name in CONTROLS and name not in SENT_BY_TRTSPEC
            }
            hottest = asked_sampling(prompts).get("temperature")
            values = hottest.values if hottest else []
            temperature = max([temperature, *map(_as_number, values)])
        return cls(temperature, ours.top_k, ours.top_p, controls, where)

    def asks_for(self) -> dict[str, object]:
        """Give the fields whose fate decides something, by their name in a request."""
        return {
            name: value
            for name, value in self.controls.items()
            if name not in _HARMLESS | _WORDS_ONLY and not _asks_nothing(name, value)
        }


def fate_name(name: str) -> str:
    """Give a field's name in TensorRT-LLM's ``SamplingParams``."""
    return FATES_OF.get(name, name)


def _asks_nothing(name: str, value: object) -> bool:
    return value is None or value in NEUTRAL.get(name, ())


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0  # a server refuses it
    return float(value)
