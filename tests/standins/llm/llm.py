"""What does ``tensorrt_llm.LLM`` do?"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.llm.checkpoint import open_checkpoint
from tests.standins.llm.controls import is_told, refused_control
from tests.standins.llm.draft_length import is_two_model
from tests.standins.llm.loop import Loop
from tests.standins.llm.request import RequestOutput
from tests.standins.llm.running import Running
from tests.standins.llm.sampling import SamplingParams
from tests.standins.llm.stream import TrueStream, honoured
from tests.standins.machine import Machine
from tests.standins.voice import say
from trtspec.trtllm.facts import families

AVERAGE = "avg_decoded_tokens_per_iter"
WITHOUT_OVERLAP = {"NGramDecodingConfig", "UserProvidedDecodingConfig"}


class LLM:
    """Base of the class that ``make_llm`` gives."""

    version: Version
    machine: Machine
    classes: dict[str, Any]

    def __init__(self, model: str | Path, tokenizer: Any = None, **given: Any) -> None:
        if tokenizer is not None:
            given["tokenizer"] = tokenizer
        self.args = self.classes["TorchLlmArgs"](model=model, **given)
        self.family = str(families.family_of(self.version))
        self._require_gpus()
        config = self.args.speculative_config
        self._require_draft_model(config)
        self._warn(config)
        self._checkpoint = open_checkpoint(Path(model), self.args)
        self._loop = Loop(self._checkpoint, self.args, self.version, self.machine)
        self._ids = itertools.count(1)
        self._closed = False
        sizes = {"speculation": type(config).__name__ if config else None}
        self.machine.note("open", model=str(model), **sizes)

    def _require_gpus(self) -> None:
        needed = self.args.tensor_parallel_size * self.args.pipeline_parallel_size
        if needed > self.machine.gpus:
            raise RuntimeError(
                f"Only {self.machine.gpus} GPUs are available, but {needed} are "
                "required."
            )

    def _require_draft_model(self, config: Any) -> None:
        for key in ("speculative_model", "speculative_model_dir"):
            folder = getattr(config, key, None)
            if folder and not (Path(folder) / "config.json").is_file():
                raise FileNotFoundError(f"draft model {folder} has no config.json")

    def _warn(self, config: Any) -> None:
        name = type(config).__name__
        if name in WITHOUT_OVERLAP and not self.args.disable_overlap_scheduler:
            self._say("Overlap scheduler is disabled for this speculative decoding")
        if name == "EagleDecodingConfig" and self.family == "main":
            self._say("Eagle on PyTorch means Eagle3: the configuration is converted")

    def _say(self, text: str) -> None:
        say(f"[TRT-LLM] [W] {text}")
        self.machine.note("warning", text=text)

    @property
    def tokenizer(self) -> Any:
        return self._checkpoint.tokenizer

    def generate(
        self,
        inputs: Any,
        sampling_params: Any = None,
        use_tqdm: bool = True,
        **rest: Any,
    ) -> Any:
        """Complete one prompt or several; these start together."""
        one = not isinstance(inputs, list) or (inputs and isinstance(inputs[0], int))
        prompts = [inputs] if one else inputs
        shared = not isinstance(sampling_params, list)
        params = [sampling_params] * len(prompts) if shared else sampling_params
        made = [self._make(p, s, False) for p, s in zip(prompts, params, strict=True)]
        self._loop.add(made)
        results = [request.output.result() for request in made]
        return results[0] if one else results

    def generate_async(
        self,
        inputs: Any,
        sampling_params: SamplingParams | None = None,
        streaming: bool = False,
        **rest: Any,
    ) -> RequestOutput:
        """Begin to complete one prompt."""
        request = self._make(inputs, sampling_params, streaming)
        self._loop.add([request])
        return request.output

    def _make(self, inputs: Any, params: Any, streaming: bool) -> Running:
        params = params or SamplingParams()
        if not isinstance(params, SamplingParams):
            raise TypeError(f"sampling_params must be SamplingParams, got {params!r}")
        text, prompt = self._tokens(inputs, params)
        self._admit(prompt, params)
        config, checkpoint = self.args.speculative_config, self._checkpoint
        two = is_two_model(config, self.family)
        sampling = honoured(params, config, self.family, two)
        output = RequestOutput(
            next(self._ids),
            prompt=text,
            prompt_token_ids=prompt,
            params=params,
            streaming=streaming,
            tokenizer=self.tokenizer,
            abort=self._loop.cancel,
            tells_average=config is None or is_told(AVERAGE, config, self.version),
        )
        limit = min(params.max_tokens or 10**9, checkpoint.longest - len(prompt))
        return Running(
            output,
            TrueStream(checkpoint, -1, prompt, sampling),
            self._ends(params),
            self._stops(params),
            limit,
        )

    def _tokens(self, inputs: Any, params: Any) -> tuple[str | None, list[int]]:
        if isinstance(inputs, dict):
            inputs = inputs.get("prompt_token_ids") or inputs.get("prompt")
        if isinstance(inputs, list) and all(isinstance(t, int) for t in inputs):
            return None, list(inputs)
        if not isinstance(inputs, str):
            raise TypeError(f"The inputs must be type str or list of int, {inputs!r}")
        special = params.add_special_tokens
        return inputs, self.tokenizer.encode(inputs, add_special_tokens=special).ids

    def _admit(self, prompt: list[int], params: SamplingParams) -> None:
        length, most = len(prompt), self.args.max_num_tokens or 8192
        if not length:
            raise ValueError("the prompt is empty")
        if length > most and not self.args.enable_chunked_prefill:
            raise ValueError(
                f"The prompt length ({length}) should not exceed max_num_tokens "
                f"({most})"
            )
        if length >= self._checkpoint.longest:
            raise ValueError(
                f"The prompt length ({length}) should not exceed max_seq_len "
                f"({self._checkpoint.longest})"
            )
        config = self.args.speculative_config
        if config is not None and params.use_beam_search:
            raise ValueError("beam search is not supported with speculation")
        if config is None:
            return
        if control := refused_control(params, config, self.version):
            raise ValueError(f"{control} is not supported with speculation")

    def _ends(self, params: SamplingParams) -> frozenset[int]:
        if params.ignore_eos:
            return frozenset()
        if params.end_id is not None:
            return frozenset([params.end_id])
        return self._checkpoint.end_tokens()

    def _stops(self, params: SamplingParams) -> list[tuple[int | str, list[int]]]:
        words = [params.stop] if isinstance(params.stop, str) else params.stop or []
        encoded = [
            (word, self.tokenizer.encode(word, add_special_tokens=False).ids)
            for word in words
        ]
        return [*encoded, *((token, [token]) for token in params.stop_token_ids or [])]

    def get_stats(self, timeout: float | None = 2) -> list[dict[str, Any]]:
        """Iteration records that nobody has read yet."""
        records = self._loop.records
        return [records.popleft() for _ in range(len(records))]

    async def get_stats_async(
        self, timeout: float | None = 2
    ) -> AsyncIterator[dict[str, Any]]:
        for record in self.get_stats(timeout):
            yield record

    def shutdown(self) -> None:
        if not self._closed:
            self._closed = True
            self._loop.stop()
            self.machine.note("shutdown")

    def _check_health(self) -> bool:
        return not self._closed

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


def make_llm(version: Version, machine: Machine, classes: dict[str, Any]) -> type[LLM]:
    """The class of a version."""
    held = {"version": version, "machine": machine, "classes": classes}
    return type("LLM", (LLM,), held)
