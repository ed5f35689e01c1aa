"""The reference backend's runner: an artifact, loaded and ready for requests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import transformers

from trtspec.build.artifact import Artifact
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.methods import DraftTarget, Method, NGram
from trtspec.recipe.schema import Recipe
from trtspec.reference.drafters import Drafter, DraftModelDrafter, NGramDrafter
from trtspec.reference.engine import Engine
from trtspec.reference.hf import load_causal_lm
from trtspec.reference.packing import can_pack, pack_linears
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
    ) -> None:
        """Load the converted checkpoints.

        :param target: directory of the target model.
        :param draft: directory of the draft model, if the method has one.
        :param device: a torch device such as ``cpu`` or ``cuda:0``.
        :param threads: CPU threads; None for ``default_threads``.
        :param chat_template: in place of the target's own.
        :raises BackendUnavailableError: if torch does not have the device.
        """
        _require_device(device)
        self._threads = use_threads(threads)
        super().__init__(recipe, TextCodec(target, chat_template))
        self._target = self._slot_model(target, device)
        drafter = self._drafter(recipe.speculation, draft, device)
        self._engine = Engine(self._target, drafter, recipe.speculation)

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
        stream = self._codec.stream(request.stop)
        now = time.perf_counter()
        running = Running(request, stream, self._codec.end_tokens, now)
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
            "packed_weights": self._packed,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def close(self) -> None:
        """Free models and slots."""
        del self._engine, self._target

    def _slot_model(self, directory: Path, device: str) -> SlotModel:
        limits = self._recipe.limits
        with _out_of_memory(device):
            model = load_causal_lm(directory, self._recipe.target.dtype, device)
            self._packed = can_pack(model) and pack_linears(model)
            if can_pack(model) and not self._packed:
                model = load_causal_lm(directory, self._recipe.target.dtype, device)
            slots = SlotModel(
                model,
                slots=limits.max_batch_size,
                max_tokens=limits.max_total_tokens,
                longest_step=self._recipe.speculation.longest_draft + 1,
            )
            require_faithful(slots, model)
        return slots

    def _drafter(
        self, method: Method, draft: Path | None, device: str
    ) -> Drafter | None:
        if isinstance(method, NGram):
            return NGramDrafter(method)
        if isinstance(method, DraftTarget):
            assert draft is not None, "a draft_target artifact holds a draft model"
            model = self._slot_model(draft, device)
            return DraftModelDrafter(model, self._target.vocabulary)
        return None


def open_runner(
    artifact: Artifact, *, device: str = "cpu", threads: int | None = None
) -> ReferenceRunner:
    """Load an artifact of the reference backend; see ``ReferenceRunner``."""
    return ReferenceRunner(
        artifact.recipe,
        artifact.target,
        artifact.draft,
        device=device,
        threads=threads,
        chat_template=artifact.chat_template,
    )


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
