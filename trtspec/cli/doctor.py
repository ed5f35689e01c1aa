"""``trtspec doctor``: what this machine has, and which backends it can run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from trtspec import __version__
from trtspec.cli.common import examples_option, json_option, print_json
from trtspec.cli.paragraph import paragraph

if TYPE_CHECKING:
    from pathlib import Path

    from trtspec.trtllm.installation import Installation, Part

_LIBRARIES = ("torch", "transformers")
_LABEL_WIDTH = 14
_ABSENT = "none: "


@click.command("doctor")
@examples_option
@json_option
def command(examples: Path | None, as_json: bool) -> None:
    """Show what this machine has, and a verdict per backend with the next step.

    Looks only: imports and starts nothing. What is absent is a fact, not an error.

    \b
    Example:
      trtspec doctor
    """  # noqa: D301  click wants the backspace itself
    from trtspec.cli.doctor_findings import doctor_findings
    from trtspec.cli.finding_text import finding_lines
    from trtspec.cli.verdicts import verdicts
    from trtspec.trtllm.probe import probe

    installation = probe(examples)
    own = {"python": sys.version.split()[0], "trtspec": __version__, **_libraries()}
    judged = verdicts(installation)
    findings = doctor_findings(installation)
    if as_json:
        backends = [asdict(verdict) for verdict in judged]
        told = [asdict(finding) for finding in findings]
        document = {**own, **_document(installation), "backends": backends}
        print_json({**document, "findings": told})
        return
    for label, text in (*own.items(), *_facts(installation)):
        _say(label, text or "not installed")
    for verdict in judged:
        click.echo()
        state = "available" if verdict.available else "not available here"
        _say(verdict.backend, f"{state}: {verdict.what}")
        _say("  next", verdict.action)
    for finding in findings:
        click.echo()
        click.echo("\n".join(finding_lines(finding)))


def _libraries() -> dict[str, str | None]:
    from trtspec.bench.conditions import installed_version

    return {name: installed_version(name) for name in _LIBRARIES}


def _say(label: str, text: str) -> None:
    click.echo("\n".join(paragraph(text, f"{label:<{_LABEL_WIDTH}}")))


def _facts(found: Installation) -> Iterator[tuple[str, str]]:
    """Give every fact about TensorRT-LLM, or why there is none."""

    def fact(part: Part, value: object) -> str:
        return str(value) if value else _ABSENT + found.why_absent(part)

    package = f"{found.version or 'unknown version'} in {found.package}"
    executor = "tensorrt_llm.bindings.executor" if found.executor else ""
    yield "TensorRT-LLM", fact("package", found.package and package)
    if found.package and not found.version:
        yield "", fact("version", None)
    yield "TensorRT", fact("tensorrt", found.tensorrt)
    yield "CUDA", fact("cuda", found.cuda)
    yield "driver", fact("gpus", found.driver)
    yield "GPUs", fact("gpus", _gpus(found))
    yield "builder", fact("builder", found.builder)
    yield "executor", fact("executor", executor)
    yield "server", fact("server", found.server)
    yield "worker", fact("worker", found.worker)
    if why := found.why_absent("runtime"):
        yield "runtime", _ABSENT + why
    yield "examples", fact("examples", _examples(found))


def _gpus(found: Installation) -> str:
    from trtspec.build.space import human_bytes

    return "; ".join(
        f"{gpu.name}, compute capability {gpu.compute_capability or 'unknown'}, "
        f"{human_bytes(gpu.memory_bytes)}"
        for gpu in found.gpus
    )


def _examples(found: Installation) -> str:
    if found.examples is None:
        return ""
    there = found.examples
    version = f"{there.version} by {there.version_file}" if there.version else "unknown"
    return f"{there.root} ({there.told_by}), version {version}"


def _document(found: Installation) -> dict[str, object]:
    """Give the installation as JSON values."""
    kept = ("tensorrt", "executor", "cuda", "driver")
    there = found.examples
    return {
        "tensorrt_llm": found.version and str(found.version),
        **{key: getattr(found, key) for key in kept},
        **{
            key: path and str(path)
            for key, path in (
                ("package", found.package),
                ("builder", found.builder),
                ("server", found.server),
                ("worker", found.worker),
            )
        },
        "gpus": [gpu.model_dump() for gpu in found.gpus],
        "examples": there
        and {
            "root": str(there.root),
            "version": there.version,
            "version_file": there.version_file or None,
            "told_by": there.told_by,
        },
        "absences": [absence._asdict() for absence in found.absences],
    }
