"""From the arguments of ``trtspec tune`` to a tuned recipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from trtspec.bench.candidates import names_of, require_same_target
from trtspec.bench.paths import require_writable, writing
from trtspec.bench.plan import Choices, ladder
from trtspec.bench.progress import watching
from trtspec.bench.rundir import run_name
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.progress import Progress
from trtspec.cli.artifact import open_or_build, terminal_progress
from trtspec.cli.common import backend_for
from trtspec.errors import NoClaimError, TrtspecError, UsageError
from trtspec.files import write_atomic
from trtspec.recipe import LoadedRecipe, load_prompts, load_recipe
from trtspec.recipe.dump import dump_recipe
from trtspec.tune.candidate import Candidate, candidate_of
from trtspec.tune.result import TuneResult
from trtspec.tune.table import print_tuning
from trtspec.tune.tuned_recipe import Source, tuned_text
from trtspec.tune.twin import reference_twin, too_large

if TYPE_CHECKING:
    from trtspec.cli.tune_shop import CommandShop
    from trtspec.tune.gather import Pricing

TUNINGS = Path("tunings")


@dataclass(frozen=True, slots=True)
class Tuned:
    """A tuning that is done.

    :param path: its directory.
    :param written: the tuned recipe; None if drafting does not pay.
    :param diff: what it changes.
    """

    result: TuneResult
    path: Path
    written: Path | None
    diff: str

    def print(self) -> None:
        """Write the table, and the recipe as a diff."""
        print_tuning(self.result, Console(file=sys.stdout))
        if self.diff:
            click.echo(self.diff, nl=False)
        if self.written:
            click.echo(f"tuned recipe: {self.written}")
        click.echo(f"everything behind it: {self.path}")

    def require_claim(self) -> None:
        """End with the exit code that the result deserves.

        :raises NoClaimError: if nothing can be claimed under any load.
        """
        if all(load.word == "no claim" for load in self.result.best.loads):
            raise NoClaimError(
                "no claim can be made under any load",
                action="use more prompts, or more --repeats",
            )


def start_tuning(asked: Mapping[str, Any]) -> Tuned:
    """Tune, and write the tuned recipe.

    :raises TrtspecError: for anything that can be seen to be wrong before measuring.
    """
    if asked["prompts"]:
        load_prompts(asked["prompts"], "--prompts")
    if asked["price_for"]:
        _require_no_bench(asked)
    candidates, sources = _candidates(asked)
    for source in sources.values():
        require_writable(asked["write"] or source.default_place)
    name = candidates[0].artifact.name
    output = asked["output"] or TUNINGS / run_name(name)
    result = _run(asked, candidates, _shops(asked, candidates), output)
    source = sources[result.best.name]
    target = asked["write"] or source.default_place
    text = tuned_text(source, result, target.parent, asked["prompts"])
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, text)
    return Tuned(result, output, target, source.difference(text))


def _require_no_bench(asked: Mapping[str, Any]) -> None:
    """Refuse to measure on this machine what is priced for another.

    :raises UsageError: if a bench is asked for, too.
    """
    from trtspec.tune.price.gpu import priced_kind

    priced_kind(asked["price_for"])
    if asked["exhaustive"]:
        raise UsageError(
            "--exhaustive beside --price-for",
            where="--exhaustive",
            allowed="one of them: a bench on this machine says nothing of that GPU",
            action="measure there: trtspec bench --draft-length",
        )


def _candidates(
    asked: Mapping[str, Any],
) -> tuple[list[Candidate], dict[str, Source]]:
    paths: Sequence[Path] = asked["recipes"]
    originals = [_original(path, asked["price_for"]) for path in paths]
    if not asked["price_for"]:
        _require_one_backend(originals)
    progress = terminal_progress(err=True, news_only=True)
    artifacts, no_twin = _artifacts(asked, originals, progress)
    require_same_target([artifact.recipe for artifact in artifacts])
    names = names_of(artifacts)
    if len(artifacts) == 1:
        names = {artifacts[0].fingerprint: artifacts[0].recipe.speculation.method}
    candidates = [
        replace(
            candidate_of(
                artifact, names[artifact.fingerprint], _longest(asked, original)
            ),
            original=original.recipe if original else None,
            no_twin=no_twin,
        )
        for artifact, original in zip(artifacts, originals, strict=True)
    ]
    sources = {
        candidate.name: _source(path, artifact)
        for candidate, path, artifact in zip(candidates, paths, artifacts, strict=True)
    }
    return candidates, sources


def _original(path: Path, price_for: str | None) -> LoadedRecipe | None:
    """Read a recipe of another backend than reference; None if it is of that.

    :raises UsageError: for an artifact of it: each draft length may need its own.
    :raises BackendUnavailableError: if it is to be timed, and its backend is not here.
    """
    loaded = None if path.is_dir() else load_recipe(path)
    recipe = loaded.recipe if loaded else Artifact.open(path).recipe
    if recipe.backend == "reference":
        return None
    if loaded is None:
        raise UsageError(
            f"an artifact of backend {recipe.backend}",
            where=str(path),
            allowed="a recipe: other draft lengths may need artifacts of their own",
            action="name the recipe that it was built from",
        )
    if not price_for:
        from trtspec.cli.tune_shop import require_tunable_here

        require_tunable_here(loaded)
    return loaded


def _require_one_backend(originals: Sequence[LoadedRecipe | None]) -> None:
    """Refuse to compare times of different backends.

    :param originals: None for recipes of backend reference.
    :raises UsageError: naming the backends.
    """
    backends = {o.recipe.backend if o else "reference" for o in originals}
    if len(backends) > 1:
        raise UsageError(
            f"recipes of backends {' and '.join(sorted(backends))}",
            allowed="one backend: the times of their steps tell nothing of one another",
            action="tune them one by one",
        )


def _artifacts(
    asked: Mapping[str, Any],
    originals: Sequence[LoadedRecipe | None],
    progress: Progress,
) -> tuple[list[Artifact], str]:
    """Build what is traced.

    :return: the artifacts, and why they are not of backend reference; empty if they
        are.
    """
    engines, paths = Path(asked["engines"]), asked["recipes"]
    try:
        found = [
            _twin(original, engines, progress)
            if original
            else _own(path, engines, progress)
            for path, original in zip(paths, originals, strict=True)
        ]
    except TrtspecError as error:
        if asked["price_for"] or not all(originals):
            raise
        why = error.problems[0].what
    else:
        if asked["price_for"] or not all(originals):
            return found, ""
        why = too_large(found[0].target)
        if not why:
            return found, ""
    from trtspec.cli.tune_shop import build_longest

    return [
        build_longest(original, _longest(asked, original), engines, progress, why)
        for original in originals
        if original
    ], why


def _own(path: Path, engines: Path, progress: Progress) -> Artifact:
    artifact = open_or_build(path, engines, progress)
    backend_for(artifact.recipe)
    return artifact


def _twin(original: LoadedRecipe, engines: Path, progress: Progress) -> Artifact:
    twin = replace(original, recipe=reference_twin(original.recipe).recipe)
    return build(twin, backend_for(twin.recipe), engines, progress).artifact


def _longest(asked: Mapping[str, Any], original: LoadedRecipe | None) -> int:
    """Give the longest draft to look at: what the recipe's engine has room for."""
    engine = original.recipe.engine if original else None
    room = engine.max_draft_length if engine else None
    longest: int = asked["longest"]
    return min(longest, room or longest)


def _shops(
    asked: Mapping[str, Any], candidates: Sequence[Candidate]
) -> dict[str, CommandShop]:
    """Say where candidates of another backend are built and loaded, to be timed."""
    if asked["price_for"]:
        return {}
    from trtspec.cli.tune_shop import CommandShop, require_arms
    from trtspec.tune.deployed.setting import Settings

    progress = terminal_progress(err=True, news_only=True)
    shops = {}
    for candidate, path in zip(candidates, asked["recipes"], strict=True):
        if candidate.original is None:
            continue
        shop = CommandShop(load_recipe(path), Path(asked["engines"]), progress)
        require_arms(shop, Settings(candidate.original, candidate.method))
        shops[candidate.name] = shop
    return shops


def _source(path: Path, artifact: Artifact) -> Source:
    if path.is_dir():
        return Source(
            dump_recipe(artifact.recipe),
            path / "recipe.yaml",
            Path.cwd() / f"{artifact.name}.tuned.yaml",
        )
    return Source(path.read_text("utf-8"), path, path.with_suffix(".tuned.yaml"))


def _pricing(asked: Mapping[str, Any]) -> Pricing | None:
    from trtspec.tune.gather import Pricing

    if not asked["price_for"]:
        return None
    milliseconds = asked["host_overhead"]
    seconds = None if milliseconds is None else milliseconds / 1000
    return Pricing(asked["price_for"], seconds)


def _notes(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Say what is different in the twins of recipes for other backends."""
    twins = [reference_twin(c.original) for c in candidates if c.original]
    return tuple(dict.fromkeys(note for twin in twins for note in twin.notes))


def _run(
    asked: Mapping[str, Any],
    candidates: Sequence[Candidate],
    shops: Mapping[str, CommandShop],
    output: Path,
) -> TuneResult:
    # only now torch: everything that can be wrong without it was looked at
    from trtspec.tune.tuning import Asked, Tuning

    console = Console(file=sys.stderr)
    choices = Choices(
        prompts=asked["prompts"],
        limit=asked["limit"],
        output_tokens=asked["output_tokens"],
        loads=ladder(asked["concurrency"]) or None,
        repeats=asked["repeats"],
    )
    tuning = Tuning(
        Asked(
            candidates=candidates,
            choices=choices,
            output=output,
            traces=asked["traces"],
            confirm=asked["confirm"] or asked["exhaustive"],
            exhaustive=asked["exhaustive"],
            pricing=_pricing(asked),
            shops=shops,
            tpot_limit=asked["tpot_limit"],
            hourly=asked["hourly"],
            device=asked["device"] or "cpu",
            threads=asked["threads"],
            notes=_notes(candidates),
            command=asked["arguments"],
        ),
        say=lambda line: console.print(line, highlight=False, soft_wrap=True),
        watching=lambda requests, repeats: watching(console, requests, repeats),
    )
    return tuning.run()
