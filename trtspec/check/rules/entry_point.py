"""Whether a user's own code, named as module:attribute, is there to be imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods.user import User

_KEYS = ("drafter", "resource_manager")


def own_code_is_there(subject: Subject) -> Iterator[Finding]:
    """Refuse a module that cannot be found; warn of an attribute that it lacks.

    It is looked for where ``trtspec run`` would: on Python's path and in the working
    directory. No package is imported, not even the parents of a module. Backends of
    TensorRT-LLM may be meant for another machine: there it is a warning.
    """
    method = subject.recipe.speculation
    if not isinstance(method, User):
        return
    for key in _KEYS:
        name = getattr(method, key)
        if name and (fault := _fault(name)):
            missing, what, why, action = fault
            here = subject.recipe.backend == "reference"
            yield Finding(
                "entry-point",
                "blocking" if missing and here else "warning",
                subject.where("speculation", key),
                what,
                why,
                action,
                values={key: name, "looked_in": str(Path.cwd())},
            )


def _fault(name: str) -> tuple[bool, str, str, str] | None:
    """Say whether the module is missing, then what, why and what to do."""
    module, _, attribute = name.partition(":")
    spec, missing = _find(module)
    if missing:
        what = f"there is no module {missing} for {name}"
        why = f"it was looked for on Python's path and in {Path.cwd()}"
        return True, what, why, "run from its folder, or add that to PYTHONPATH"
    names = _names_of(spec)
    if names is None or attribute in names or "*" in names:
        return None
    what = f"{spec.origin if spec else module} defines no {attribute} at its top level"
    near = ", ".join(sorted(n for n in names if not n.startswith("_"))[:5])
    action = f"name one of: {near}" if near else "name what gives the drafter"
    why = f"{name} is called without arguments to get the drafter"
    return False, what, why, action


def _find(module: str) -> tuple[ModuleSpec | None, str]:
    """Find a module without importing its parents; give the first that is not there."""
    first, *rest = module.split(".")
    spec = _find_first(first)
    path = first
    for part in rest:
        if spec is None:
            break
        path = f"{path}.{part}"
        locations = spec.submodule_search_locations
        spec = PathFinder.find_spec(path, locations) if locations else None
    return spec, "" if spec else path


def _find_first(name: str) -> ModuleSpec | None:
    try:
        if spec := find_spec(name):  # of a name without dots: imports nothing
            return spec
    except (ImportError, ValueError):
        pass
    PathFinder.invalidate_caches()
    return PathFinder.find_spec(name, [*_path(), str(Path.cwd())])


def _path() -> Sequence[str]:
    return [entry for entry in sys.path if entry]


def _names_of(spec: ModuleSpec | None) -> frozenset[str] | None:
    """Names that a module's source binds at its top; None if that cannot be told."""
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    try:
        tree = ast.parse(Path(spec.origin).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = frozenset(_bound(tree.body))
    return None if "__getattr__" in names else names


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names bound by statements, those inside of if, try and with among them."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (a.asname or a.name.split(".")[0] for a in node.names)
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.FunctionDef | ast.ClassDef):
                yield inner.name
            elif isinstance(inner, ast.Import | ast.ImportFrom):
                yield from (a.asname or a.name.split(".")[0] for a in inner.names)
