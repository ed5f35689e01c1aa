"""The reference backend's runner: an artifact, loaded and ready for requests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch
import transformers
from torch import nn

from trtspec.build.artifact import TARGET, Artifact
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.methods import lossy_reason
from trtspec.recipe.schema import Recipe
from trtspec.reference.attention import use_grouped_attention
from trtspec.reference.drafters import DrafterSetup, open_drafter
from trtspec.reference.engine import Engine
from trtspec.reference.hf import load_causal_lm
from trtspec.reference.packing import (
    can_pack,
    is_packed,
    pack_head,
    pack_linears,
)
from trtspec.reference.probe import require_faithful
from trtspec.reference.running import Running
from trtspec.reference.slots import SlotModel
from trtspec.reference.threads import use_threads
from trtspec.run import Request, StepResult
from trtspec.run.fit import refuse_controls, require_fit
from trtspec.run.recipe_runner import RecipeRunner
from trtspec.run.tokens import TextCodec


class ReferenceRunner(RecipeRunner):
    """Runs requests on the embedded engine; see ``trtspec.run.Runner``."""

    def __init__(
        self,
        recipe: Recipe,
        target: Path,
        draft: Path | None,
        *,
        device: str = "cpu",
        threads: int | None = None,
        chat_template: str | None = None,
        lender: ReferenceRunner | None = None,
    ) -> None:
        """Load the converted checkpoints.

        :param target: directory of the target model.
        :param draft: directory of the draft model, if the method has one.
        :param device: a torch device such as ``cpu`` or ``cuda:0``.
        :param threads: CPU threads; None for ``default_threads``.
        :param chat_template: in place of the target's own.
        :param lender: runs the same target model, which is then shared, not loaded.
        :raises BackendUnavailableError: if torch does not have the device.
        """
        _require_device(device)
        self._threads = use_threads(threads)
        super().__init__(recipe, TextCodec(target, chat_template))
        longest_step = recipe.speculation.longest_draft + 1
        if lender is None:
            self._target = self._slot_model(target, longest_step, device)
        else:
            self._target = self._slots(lender.target_model, longest_step)
        drafter = open_drafter(recipe.speculation, draft, self._setup(target, device))
        self._engine = Engine(self._target, drafter, recipe.speculation)

    @property
    def target_model(self) -> nn.Module:
        """The target model itself, to be shared."""
        return self._target.model

    @property
    def target_slots(self) -> SlotModel:
        """The target model in its slots; while nothing runs they may be used."""
        return self._target

    @property
    def engine(self) -> Engine:
        """What takes the steps; for what looks into them."""
        return self._engine

    @property
    def caches_prompts(self) -> bool:
        """Slots are cleared: every prompt is read anew."""
        return False

    def submit(self, request: Request) -> None:
        """Queue a request.

        :raises UsageError: if it does not fit the recipe's limits or asks for what
            this backend does not have, or a request of its id waits or runs.
        """
        require_fit(request, self._recipe, self._recipe.speculation.longest_draft)
        refuse_controls(request, "reference")
        running = Running(
            request,
            self._codec.stream(request.stop),
            self._codec.end_tokens,
            time.perf_counter(),
            lossy=self._lossy(request),
            apart=self._recipe.speculation.follows_batch,
        )
        self._engine.queue.submit(running)

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; unknown ids are ignored."""
        self._engine.queue.cancel(request_id)

    @property
    def busy(self) -> bool:
        """Whether any request is queued or running."""
        return bool(self._engine.queue)

    def advance(self) -> StepResult:
        """Do one engine step."""
        return self._engine.advance()

    def conditions(self) -> dict[str, object]:
        """What decides how fast this runner is."""
        device = self._target.device
        return {
            "backend": "reference",
            "device": str(device),
            "device_name": torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else f"cpu, {torch.backends.cpu.get_cpu_capability()}",
            "dtype": str(self._target.dtype).removeprefix("torch."),
            "threads": self._threads,
            "packed_weights": is_packed(self._target.model),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def close(self) -> None:
        """Free models and slots."""
        del self._engine, self._target

    def _lossy(self, request: Request) -> str:
        """Say why the output need not be the target's own; empty if it is."""
        if not request.speculate:
            return ""
        method = request.speculation or self._recipe.speculation
        sampled = not request.sampling.greedy
        return lossy_reason(method, "reference", None, sampled=sampled)

    def _slot_model(self, directory: Path, longest_step: int, device: str) -> SlotModel:
        with _out_of_memory(device):
            model = self._load(directory, device)
            if can_pack(model) and not pack_linears(model):
                model = self._load(directory, device)
            slots = self._slots(model, longest_step)
            require_faithful(slots, model)
        return slots

    def _load(self, directory: Path, device: str) -> nn.Module:
        model = load_causal_lm(directory, self._recipe.target.dtype, device)
        use_grouped_attention(model)
        return model

    def _head_slots(self, head: nn.Module, longest_step: int) -> SlotModel:
        use_grouped_attention(head)
        pack_head(head)
        return self._slots(head, longest_step)

    def _slots(self, model: nn.Module, longest_step: int) -> SlotModel:
        limits = self._recipe.limits
        return SlotModel(
            model,
            slots=limits.max_batch_size,
            max_tokens=limits.max_total_tokens,
            longest_step=longest_step,
        )

    def _setup(self, target: Path, device: str) -> DrafterSetup:
        return DrafterSetup(
            target=self._target.model,
            target_directory=target,
            vocabulary=self._target.vocabulary,
            slots=self._recipe.limits.max_batch_size,
            max_tokens=self._recipe.limits.max_total_tokens,
            load_model=partial(self._slot_model, device=device),
            slots_for=self._head_slots,
        )


def open_runner(
    artifact: Artifact,
    *,
    device: str = "cpu",
    threads: int | None = None,
    lender: ReferenceRunner | None = None,
) -> ReferenceRunner:
    """Load an artifact of the reference backend; see ``ReferenceRunner``.

    :param lender: a runner on the same device of an artifact with the same target.
    """
    return ReferenceRunner(
        artifact.recipe,
        artifact.target,
        artifact.draft,
        device=device,
        threads=threads,
        chat_template=artifact.chat_template,
        lender=lender,
    )


def same_target(one: Artifact, other: Artifact) -> bool:
    """Whether two artifacts have the same target model, file by file, in one type."""
    files = [
        {k: v for k, v in a.manifest.files.items() if k.startswith(f"{TARGET}/")}
        for a in (one, other)
    ]
    same_type = one.recipe.target.dtype == other.recipe.target.dtype
    return same_type and files[0] == files[1]


@contextmanager
def _out_of_memory(device: str) -> Iterator[None]:
    """Turn torch's ways to say that memory is short into one message.

    :raises RunError: instead.
    """
    try:
        yield
    except RuntimeError as error:
        if "memory" not in str(error):
            raise
        raise RunError(
            f"the memory of {device} does not hold the model and its KV cache",
            action="lower limits.max_batch_size or limits.max_total_tokens",
        ) from error


def _require_device(device: str) -> None:
    kind = device.partition(":")[0]
    available = {"cpu": True, "cuda": torch.cuda.is_available()}
    available["mps"] = torch.backends.mps.is_available()
    if not available.get(kind, False):
        raise BackendUnavailableError(
            f"torch has no device {device!r} here",
            where="--device",
            allowed=", ".join(name for name, there in available.items() if there),
        )
