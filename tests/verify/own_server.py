"""A server like trtspec's own around a toy model, with one URL for both arms."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from tests.bench.http.events import DONE, event, usage
from tests.bench.http.mock_server import Script, document, serving
from tests.reference.engines import TOKENIZER
from tests.reference.toys import full_logits
from trtspec.reference.chance import SeededChance
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams

CARD = {
    "id": "toy-1234",
    "owned_by": "trtspec",
    "max_model_len": 80,
    "trtspec": {"backend": "reference", "method": "ngram", "draft_length": "3"},
}
Twist = Callable[[SamplingParams], SamplingParams]


@dataclass
class Toy:
    """Answers from the toy's own distribution, token by token.

    :param twist: what it makes of the sampling of requests that draft.
    :param ids: whether it tells token ids; else log-probabilities by text only.
    :param off_by: added to the log-probabilities of requests that draft.
    """

    twist: Twist = lambda sampling: sampling
    ids: bool = True
    off_by: float = 0.0
    bodies: list = field(default_factory=list)

    def __call__(self, seen) -> Script:
        body = seen.body
        self.bodies.append(body)
        drafts = body.get("speculation", {}).get("enabled", True)
        chat = "messages" in body
        text = body["messages"][-1]["content"] if chat else body["prompt"]
        prompt = text
        if isinstance(text, str):
            prompt = TOKENIZER.encode(f"w2 {text} w3" if chat else text).ids
        tokens, rows = self._tokens(prompt, body, drafts)
        steps = [
            self._event(token, row, body, chat, drafts)
            for token, row in zip(tokens, rows, strict=True)
        ]
        steps.append(self._last(len(tokens), chat, drafts))
        return Script((b"".join(steps) + usage(len(tokens), len(prompt)) + DONE,))

    def _tokens(self, prompt, body, drafts):
        sampling = SamplingParams(
            temperature=body.get("temperature", 0.0),
            top_p=body.get("top_p", 1.0),
            seed=body.get("seed", 0),
        )
        chance = SeededChance(sampling.seed)
        sampling = self.twist(sampling) if drafts else sampling
        tokens, rows = [], []
        while len(tokens) < body["max_tokens"]:
            logits = full_logits([*prompt, *tokens])[-1]
            rows.append(logits.log_softmax(-1))
            if sampling.greedy:
                tokens.append(int(logits.argmax()))
            else:
                tokens.append(int(chance.draw(distribution(logits, sampling))))
        return tokens, rows

    def _event(self, token, row, body, chat, drafts) -> bytes:
        text = f" w{token}"
        choice: dict = {"index": 0, "finish_reason": None}
        choice |= {"delta": {"content": text}} if chat else {"text": text}
        if body.get("logprobs"):
            best = torch.topk(row, 5)
            off_by = self.off_by if drafts else 0.0
            pairs = [
                (f" w{i}", v + off_by)
                for i, v in zip(
                    best.indices.tolist(), best.values.tolist(), strict=True
                )
            ]
            own = float(row[token]) + off_by
            choice["logprobs"] = (
                {
                    "content": [
                        {
                            "token": text,
                            "logprob": own,
                            "top_logprobs": [
                                {"token": t, "logprob": v} for t, v in pairs
                            ],
                        }
                    ]
                }
                if chat
                else {
                    "tokens": [text],
                    "token_logprobs": [own],
                    "top_logprobs": [dict(pairs)],
                }
            )
        if self.ids and body.get("return_token_ids"):
            choice["token_ids"] = [token]
        return event({"choices": [choice]})

    def _last(self, count, chat, drafts) -> bytes:
        figures = {
            "method": "ngram",
            "enabled": drafts,
            "steps": count - 1,
            "drafted": count if drafts else 0,
            "accepted": count // 2 if drafts else 0,
            "lossy": "",
        }
        choice = {"index": 0, "finish_reason": "length", "speculation": figures}
        choice |= {"delta": {"content": ""}} if chat else {"text": ""}
        return event({"choices": [choice]})


@contextlib.contextmanager
def toy_server(toy: Toy):
    with serving(toy, models=document({"data": [CARD]})) as server:
        yield server
