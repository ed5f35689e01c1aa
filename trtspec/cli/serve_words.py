"""What ``trtspec serve`` says of a server that is ready."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from trtspec.build.artifact import Artifact
from trtspec.trtllm.pytorch.launch.canary import Canary
from trtspec.trtllm.pytorch.launch.example import curl_command
from trtspec.trtllm.pytorch.launch.server import Server


@dataclass(frozen=True, slots=True)
class Caveats:
    """What clients must know of a server.

    :param lossy: for which requests the output is not the target model's own, and why.
    :param unhonoured: the controls of a request that speculation does not honour on
        this release, and what becomes of them.
    """

    lossy: tuple[str, ...] = ()
    unhonoured: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Give a warning for each."""
        return [
            *(f"WARNING: {text}" for text in self.lossy),
            *(f"WARNING: in requests, {text}" for text in self.unhonoured),
        ]


def canary_lines(artifact: Artifact, canary: Canary) -> list[str]:
    """Say what the canary showed: text came, and what speculation did for it."""
    tokens = "an unknown number of" if canary.tokens is None else str(canary.tokens)
    lines = [f"canary: {tokens} tokens in {canary.seconds:.2f} s (not a measurement)"]
    per_step = canary.tokens_per_step
    if artifact.recipe.speculation.longest_draft == 0:
        return lines
    if per_step is None:
        return [*lines, "canary: acceptance length not reported by this server"]
    lines.append(
        f"canary: {per_step:.2f} tokens per step (avg_decoded_tokens_per_iter)"
    )
    if per_step == 1.0:
        lines.append(
            "warning: no draft token was accepted for the canary; if that is so for "
            "your requests too, speculation only costs: compare this recipe with one "
            "of method none, each with trtspec run ARTIFACT --prompts FILE --json"
        )
    return lines


def ready_document(
    server: Server, caveats: Caveats, canary: Canary | None
) -> dict[str, object]:
    """Give the JSON document of a server that is ready."""
    return {
        "url": server.url,
        "model": server.model,
        "pid": server.pid,
        "log": str(server.log),
        "lossy": list(caveats.lossy),
        "unhonoured": list(caveats.unhonoured),
        "canary": asdict(canary) if canary else None,
    }


def greeting(artifact: Artifact, server: Server, *, lossy: bool) -> str:
    """Say where the artifact is served, with an example to copy."""
    mark = " (lossy: see the warning above)" if lossy else ""
    example = curl_command(artifact, server.url, server.model)
    return f"{artifact.name} is served at {server.url}{mark}\n  {example}"
