"""How a recipe file becomes a recipe, or a list of all that is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationError

from trtspec.errors import Problem, RecipeError
from trtspec.recipe.schema import Recipe
from trtspec.recipe.text import decode, open_file, unreadable
from trtspec.recipe.yaml_lines import (
    KeyPath,
    YamlDocument,
    dotted,
    nearest_line,
    parse_yaml,
)

MAX_BYTES = 1 << 20
"""Largest file that is read as a recipe; they have about one thousand bytes."""

_MOST_PROBLEMS = 20
_MANIFEST = "manifest.json"  # of build.artifact, which stands further right
_START = "start from a recipe of the folder recipes/, or see trtspec schema"


@dataclass(frozen=True)
class LoadedRecipe:
    """A valid recipe with the file it came from.

    :param path: the file as it was named to us.
    :param lines: line (from 1) of each key or list item by its path; ``()`` is the
        document.
    """

    recipe: Recipe
    path: Path
    lines: Mapping[KeyPath, int]

    @property
    def base(self) -> Path:
        """The directory that relative paths in the recipe start from."""
        return self.path.parent

    def where(self, *key: str | int) -> str:
        """Give file:line of a key, such as ``where("speculation", "draft_length")``.

        A key that the file does not have gets the line of the section around it.
        """
        return f"{self.path}:{nearest_line(self.lines, key)}"


def load_recipe(path: str | Path) -> LoadedRecipe:
    """Read and check a recipe.

    :raises RecipeError: with every problem found, each with file:line, the value,
        what is allowed and what to do.
    """
    path = Path(path)
    document = parse_yaml(_read(path), str(path))
    recipe = _validated(document, str(path))
    return LoadedRecipe(recipe, path, document.lines)


def _validated(document: YamlDocument, source: str) -> Recipe:
    problems = list(document.problems)
    recipe = None
    if isinstance(document.value, dict) and (key := _vendor_key(document.value)):
        raise RecipeError(
            f"this is no recipe but a configuration of TensorRT-LLM: it has {key}",
            where=f"{source}:{document.line((key,))}",
            allowed="a map with the keys schema, name, target, speculation, ...",
            action=f"move it to the release that you have: trtspec migrate {source} "
            "--to VERSION; or name its settings in a recipe (trtspec schema)",
        )
    if not isinstance(document.value, dict):
        problems.append(_not_a_map(document, source))
    else:
        try:
            recipe = Recipe.model_validate(document.value)
        except ValidationError as error:
            # imported only here: a valid recipe needs no words for errors
            from trtspec.recipe.problems import schema_problems

            problems += schema_problems(error, document, source)
    problems += _leading_zeros(document, source, {p.where for p in problems})
    if problems or recipe is None:
        raise RecipeError.from_problems(_first(problems, source))
    return recipe


_OURS = frozenset({"schema", "name", "target", "speculation", "limits", "workload"})
_VENDORS = (
    "speculative_config", "kv_cache_config", "build_config", "cuda_graph_config",
    "pytorch_backend_config", "decoding_config", "scheduler_config", "moe_config",
    "max_seq_len", "max_num_tokens", "tensor_parallel_size", "moe_expert_parallel_size",
    "disable_overlap_scheduler", "enable_chunked_prefill", "enable_attention_dp",
)  # fmt: skip
"""Keys at the top of a YAML of TensorRT-LLM's LLM API that no recipe has there."""


def _vendor_key(value: Mapping[object, object]) -> str:
    """Name the key that shows whose file it is; empty if it may be a recipe."""
    if not _OURS.isdisjoint(value.keys()):
        return ""
    return next((key for key in _VENDORS if key in value), "")


def _leading_zeros(
    document: YamlDocument, source: str, told: Collection[str]
) -> Iterator[Problem]:
    """Refuse numbers such as 032, which are octal to YAML 1.1 and not to YAML 1.2.

    :param told: places of which something is said already.
    """
    for path, text in document.written.items():
        where = f"{source}:{document.line(path)}"
        if not _LEADING_ZERO.fullmatch(text) or where in told:
            continue
        if not isinstance(document.at(path), int):  # !!str 032 is text
            continue
        plain = int(text)
        octal = "" if set(text) & {"8", "9"} else f", and {int(text, 8)} in YAML 1.1"
        yield Problem(
            f"{dotted(path)} is {text}, which is {plain} in YAML 1.2{octal}",
            where,
            "numbers without a zero before them",
            f"write {plain}" + (f", or {int(text, 8)}" if octal else ""),
        )


_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")


def _first(problems: list[Problem], source: str) -> list[Problem]:
    problems = sorted(problems, key=lambda p: int(p.where.rpartition(":")[2]))
    more = len(problems) - _MOST_PROBLEMS
    if more <= 0:
        return problems
    rest = Problem(f"{more} more problems", source)
    return [*problems[:_MOST_PROBLEMS], rest]


def _not_a_map(document: YamlDocument, source: str) -> Problem:
    if document.value is None:
        return Problem("the recipe is empty", f"{source}:1", action=_START)
    kind = "a list" if isinstance(document.value, list) else "no map of keys"
    return Problem(
        f"the recipe is {kind}",
        f"{source}:{document.line(())}",
        "a map with the keys schema, name, target, speculation, ...",
        _START,
    )


def _read(path: Path) -> str:
    where = str(path)
    if _is_artifact(path):
        raise RecipeError(
            "this is an artifact, not a recipe",
            where=where,
            action=f"run it: trtspec run {path}; the recipe that it was built from is "
            f"{path / 'recipe.yaml'}",
        )
    try:
        with open_file(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        problem = unreadable(error, "the recipe", where, _neighbours(path))
        raise RecipeError.from_problems([problem]) from None
    if len(data) > MAX_BYTES:
        raise RecipeError(
            f"the file has more than {MAX_BYTES >> 20} MiB: it is not a recipe",
            where=where,
            action="give the path of a recipe, a YAML file of some lines",
        )
    text = decode(data, where)
    if isinstance(text, Problem):
        raise RecipeError.from_problems([text])
    return text


def _is_artifact(path: Path) -> bool:
    # os.path, as Path.is_file raises for a name that is too long
    return all(os.path.isfile(path / name) for name in (_MANIFEST, "recipe.yaml"))


def _neighbours(path: Path) -> str:
    """Suggest recipes near a path that is none."""
    # os.path, as Path.is_dir raises for a name that is too long
    folder = path if os.path.isdir(path) else path.parent
    try:
        # a link to nowhere is listed, but is no recipe
        recipes = sorted(
            p.name for p in folder.iterdir() if p.suffix == ".yaml" and p.exists()
        )
    except OSError:
        return f"check the path: there is no directory {folder}"
    # the suffix, which all have, makes no name alike
    stems = {name.removesuffix(".yaml"): name for name in recipes}
    if near := get_close_matches(path.stem, stems, n=1):
        return f"did you mean {folder / stems[near[0]]}?"
    if recipes:
        return f"choose one of the recipes in {folder}: {', '.join(recipes[:8])}"
    return "check the path; the bundled recipes are in recipes/"
