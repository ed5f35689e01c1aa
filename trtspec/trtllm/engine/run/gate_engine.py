"""What any engine is refused for.

Each rule is a pure function of what the engines say of themselves; most of these
mistakes would otherwise end in an assertion deep in the runtime, or be cut silently.
"""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, Problem, RunError
from trtspec.gpus import Gpu
from trtspec.methods import Lookahead, Method, ReDrafter
from trtspec.recipe.schema import Limits
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig

BUILD_AGAIN = "build the recipe again: trtspec build RECIPE"


def engine_mode(method: Method) -> tuple[str, int]:
    """Give the mode that a method's target engine is built in: its name and its bit."""
    name = facts.architectures()[method.method].mode
    return name, facts.modes()[name]


def plain_mode() -> tuple[str, int]:
    """Give the mode of an engine that does not speculate, such as a draft engine."""
    name = facts.architectures()["none"].mode
    return name, facts.modes()[name]


def require_mode(engine: EngineConfig, name: str, bit: int, *, where: str) -> None:
    """Refuse an engine that was built for another way of decoding.

    :param name: the mode that is wanted, as trtllm-build calls it, and its bit.
    """
    if engine.mode == bit:
        return
    known = {value: mode for mode, value in facts.modes().items()}
    built = known.get(engine.mode, "a mode that this backend does not have")
    raise RunError(
        f"the engine was built with speculative_decoding_mode {engine.mode} ({built})",
        where=where,
        allowed=f"{bit} ({name})",
        action=BUILD_AGAIN,
    )


def require_version(engine: EngineConfig, version: Version, where: str) -> None:
    """Refuse an engine of another TensorRT-LLM: engines do not carry over."""
    built = engine.release
    if built is None or built.public != version.public:
        raise RunError(
            f"the engine was built by TensorRT-LLM {engine.version}, "
            f"and {version} is to run it",
            where=where,
            allowed=f"an engine built by {version}",
            action=BUILD_AGAIN,
        )


def require_gpu(built: str | None, gpus: Sequence[Gpu], where: str) -> None:
    """Refuse an engine that was built on GPUs of another compute capability.

    :param built: compute capability of those, such as ``8.0``; None if not known.
    """
    here = next((gpu.compute_capability for gpu in gpus), None)
    if built is None or here is None or built == here:
        return
    raise RunError(
        f"the engine was built for compute capability {built}, and the GPU here has "
        f"{here}",
        where=where,
        allowed=f"an engine built for {here}",
        action=BUILD_AGAIN,
    )


def require_capacity(engine: EngineConfig, method: Method, where: str) -> None:
    """Refuse drafts longer than the engine verifies; lookahead's must be equal."""
    wanted, built = method.longest_draft, engine.max_draft_len
    exactly = isinstance(method, Lookahead | ReDrafter)
    if wanted == built or (wanted < built and not exactly):
        return
    raise RunError(
        f"{method.method} drafts {wanted} tokens, and the engine was built with "
        f"max_draft_len {built}",
        where=where,
        allowed=f"{'exactly' if exactly else 'up to'} {built}",
        action="change the speculation's sizes, or " + BUILD_AGAIN,
    )


def require_sizes(
    engine: EngineConfig, limits: Limits, input_tokens: int, where: str
) -> None:
    """Refuse limits that the engine was not built for.

    :param input_tokens: the longest input that a request to this engine has.
    """
    needed = {
        "max_batch_size": (limits.max_batch_size, engine.max_batch_size),
        "max_seq_len": (
            limits.max_total_tokens + engine.max_draft_len,
            engine.max_seq_len,
        ),
        "max_input_len (or max_num_tokens, if smaller)": (
            input_tokens,
            longest_input(engine),
        ),
    }
    found = [
        Problem(
            f"the recipe's limits need {name} {wanted}, and the engine was built with "
            f"{built}",
            where,
            f"up to {built}",
            "lower the limits, or " + BUILD_AGAIN,
        )
        for name, (wanted, built) in needed.items()
        if wanted > built
    ]
    if found:
        raise RunError.from_problems(found)


def require_beam(engine: EngineConfig, where: str) -> None:
    """Refuse beam search: no speculation mode has it."""
    if engine.max_beam_width != 1:
        raise RunError(
            f"the engine was built with max_beam_width {engine.max_beam_width}",
            where=where,
            allowed="1",
            action=BUILD_AGAIN,
        )


def require_parallel(engine: EngineConfig, ranks: int, gpus: int, where: str) -> None:
    """Refuse an engine whose ranks do not match the recipe or the GPUs.

    :param ranks: the recipe's ``tensor_parallel``.
    :param gpus: GPUs that are visible here.
    """
    if engine.tp_size != ranks:
        raise RunError(
            f"the engine was built for tensor_parallel {engine.tp_size}, and the "
            f"recipe has {ranks}",
            where=where,
            allowed=str(engine.tp_size),
            action=BUILD_AGAIN,
        )
    if ranks > gpus:
        raise BackendUnavailableError(
            f"the engine needs {ranks} GPUs, and {gpus} are visible",
            where=where,
            allowed=f"{ranks} or more",
            action="run where they are, or see whether CUDA_VISIBLE_DEVICES hides some",
        )


def longest_input(engine: EngineConfig) -> int:
    """Tokens that a request's input may have.

    The runtime goes by the sequence length and by what fits into one forward, whatever
    the engine's ``max_input_len`` is (cpp/tensorrt_llm/batch_manager/trtGptModel.h);
    the smallest of the three is taken.
    """
    longest = min(engine.max_input_len, engine.max_num_tokens)
    return min(longest, engine.max_seq_len - 1)
