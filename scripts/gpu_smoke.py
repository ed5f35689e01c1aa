"""Builds and runs small models on every backend here, and compares off with on.

Started by ``gpu_smoke.sh``, which says what the variables mean. Everything goes through
the command line, as a user's would: ``trtspec doctor``, ``build`` and ``run``.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from smoke_runs import PROMPTS, FailedError, Runs, Settings, read_settings, trtspec
from smoke_tokens import Case, Line, differing, gap_of, is_near_tie, sums

from trtspec.recipe.load import load_recipe
from trtspec.recipe.workload import load_prompts

METHODS: dict[str, dict[str, Any]] = {
    "none": {},
    "ngram": {"draft_length": 4, "max_matching_ngram": 3},
    "draft_target": {"draft_length": 4},
    "lookahead": {"window_size": 3, "ngram_size": 3, "verification_set_size": 3},
}
DRAFTING = {
    "tensorrt": ("ngram", "draft_target", "lookahead"),
    "pytorch": ("ngram", "draft_target"),
    "reference": ("ngram", "draft_target"),
}
TRAINED = "needs trained weights of some GB: name its recipe in SMOKE_RECIPES"
RUN, TOKENS = "run", "tokens"
"""Ways to fail: something did not build or run, or gave other tokens."""


@dataclass
class Check:
    """One comparison, or why there was none."""

    name: str
    result: str
    reason: str = ""
    failure: str = ""
    details: dict[str, Any] = field(default_factory=dict)


class Smoke:
    """All checks on this machine."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.runs = Runs(settings)

    def doctor(self) -> dict[str, Any]:
        """Ask what is here."""
        text = trtspec(self.settings.logs / "doctor.log", "doctor", "--json")
        found: dict[str, Any] = json.loads(text)
        return found

    def checks(self, found: dict[str, Any]) -> Iterator[Check]:
        """Try every backend, then the further recipes."""
        backends = {
            one["backend"]: self._why_not(found, one) for one in found["backends"]
        }
        for backend, reason in backends.items():
            if reason:
                yield Check(backend, "skipped", reason)
            else:
                yield from self._backend(backend)
        named = set()
        for path in self.settings.recipes:
            recipe = load_recipe(path).recipe
            named.add(recipe.speculation.method)
            if reason := backends[recipe.backend]:
                yield Check(recipe.name, "skipped", reason)
            else:
                yield self._check(recipe.name, path, path.with_name("none.yaml"))
        for method in sorted({"medusa", "eagle", "redrafter"} - named):
            yield Check(f"tensorrt/{method}", "skipped", TRAINED)

    def _why_not(self, found: dict[str, Any], backend: dict[str, Any]) -> str:
        if not found["gpus"]:
            whys = (a["why"] for a in found["absences"] if a["what"] == "gpus")
            return f"no GPU: {next(whys, '')}"
        if not backend["available"]:
            return f"{backend['what']}: {backend['action']}"
        asked = backend["backend"] in self.settings.backends
        return "" if asked else "not in SMOKE_BACKENDS"

    def _backend(self, backend: str) -> Iterator[Check]:
        off = self._write_recipe(backend, "none")
        yield (plain := self._check(f"{backend}/none", off, None))
        for method in DRAFTING[backend]:
            name = f"{backend}/{method}"
            if plain.result == "passed":
                yield self._check(name, self._write_recipe(backend, method), off)
            else:
                yield Check(name, "skipped", f"{backend}/none did not run")

    def _write_recipe(self, backend: str, method: str) -> Path:
        speculation = {"method": method, **METHODS[method]}
        if method == "draft_target":
            speculation["model"] = self.settings.draft
        recipe = {
            "schema": "trtspec/v1",
            "name": f"smoke-{backend}-{method.replace('_', '-')}",
            "backend": backend,
            "target": {"model": self.settings.target, "dtype": self.settings.dtype},
            "speculation": speculation,
            "limits": {
                "max_batch_size": PROMPTS,
                "max_input_tokens": 1024,
                "max_total_tokens": 1024 + 2 * self.settings.tokens,
                "kv_cache_fraction": 0.5,
            },
        }
        path = self.settings.logs / "recipes" / f"{backend}-{method}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(recipe, indent=2) + "\n")  # JSON is YAML too
        return path

    def _check(self, name: str, recipe: Path, off: Path | None) -> Check:
        print(f"{name}: build and run", file=sys.stderr, flush=True)
        started = time.monotonic()
        try:
            check = self._compared(name, recipe, off)
        except FailedError as error:
            check = Check(name, "failed", str(error), RUN)
        check.details["seconds"] = round(time.monotonic() - started, 1)
        print(f"{name}: {check.result} {check.reason}", file=sys.stderr, flush=True)
        return check

    def _compared(self, name: str, recipe: Path, off: Path | None) -> Check:
        plain = self.runs.lines(off)[1] if off else None
        artifact, lines = self.runs.lines(recipe)
        check = Check(name, "passed", details={"prompts": len(lines), **sums(lines)})
        if not check.details["output_tokens"]:
            raise FailedError("no tokens came out")
        if plain is None:
            return check
        if not self._has_drafted(recipe, check.details):
            raise FailedError("nothing was drafted")
        gaps = {
            one: gap_of(self._case(recipe, artifact, one, plain, lines))
            for one in differing(plain, lines)
        }
        check.details |= {"identical": len(plain) - len(gaps), "logit_gaps": gaps}
        if wrong := [one for one, gap in gaps.items() if not is_near_tie(gap)]:
            check.result, check.failure = "failed", TOKENS
            check.reason = f"other tokens than without speculation: {', '.join(wrong)}"
        return check

    def _has_drafted(self, recipe: Path, sums: dict[str, Any]) -> bool:
        """Whether the counts show drafts; backend pytorch counts what was accepted."""
        drafts = load_recipe(recipe).recipe.backend != "pytorch"
        return bool(sums["drafted" if drafts else "accepted"])

    def _case(
        self,
        recipe: Path,
        artifact: Path,
        prompt: str,
        off: dict[str, Line],
        on: dict[str, Line],
    ) -> Case:
        prompts = load_prompts(self.settings.prompts, "SMOKE_PROMPTS")
        text = next(p.messages[-1]["content"] for p in prompts if p.id == prompt)
        loaded = load_recipe(recipe)
        model = loaded.recipe.target.model
        beside = loaded.base / model
        target = str(beside) if beside.is_dir() else model
        return Case(target, artifact, text, off[prompt]["tokens"], on[prompt]["tokens"])


def verdict(
    found: dict[str, Any], checks: Sequence[Check], logs: Path
) -> dict[str, Any]:
    """Sum up: failed if anything failed, skipped if nothing ran."""
    results = {check.result for check in checks}
    order = ("failed", "passed", "skipped")
    summed = next((one for one in order if one in results), "skipped")
    reasons = {check.reason for check in checks if check.result == summed}
    versions = ("trtspec", "tensorrt_llm", "tensorrt", "cuda", "driver", "torch")
    return {
        "verdict": summed,
        "reason": "; ".join(sorted(reasons - {"", TRAINED})),
        "gpus": [gpu["name"] for gpu in found.get("gpus", [])],
        "versions": {key: found.get(key) for key in versions},
        "logs": str(logs),
        "checks": [asdict(check) for check in checks],
    }


def exit_code(checks: Sequence[Check]) -> int:
    """As every command: 0 fine, 4 nothing here, 5 did not build or run, 7 wrong."""
    failures = {check.failure for check in checks if check.result == "failed"}
    if failures:
        return 7 if failures == {TOKENS} else 5
    return 0 if any(check.result == "passed" for check in checks) else 4


def main() -> int:
    """Run all checks; print the verdict, whatever happens."""
    found: dict[str, Any] = {}
    checks: list[Check] = []
    logs = Path()
    try:
        settings = read_settings()
        logs = settings.logs
        logs.mkdir(parents=True, exist_ok=True)
        smoke = Smoke(settings)
        found = smoke.doctor()
        checks.extend(smoke.checks(found))
    except Exception as error:  # noqa: BLE001 - the verdict comes out, whatever happens
        (logs / "gpu-smoke.log").write_text(traceback.format_exc())
        reason = f"{type(error).__name__}: {error}"
        checks.append(Check("smoke", "failed", reason, RUN))
    print(json.dumps(verdict(found, checks, logs), indent=2))
    return exit_code(checks)


if __name__ == "__main__":
    sys.exit(main())
