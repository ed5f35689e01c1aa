"""How long check and inspect take on the headers of a sharded 70B checkpoint.

python scripts/bench_check_70b.py [RUNS]

Writes thirty sparse shards with the headers of Llama-3.1-70B into a temporary folder,
and a recipe for them; prints the best and median of each command's wall time, as a user
waits for it, and of its CPU time, which a busy machine changes less. The start of the
interpreter is included.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.models.large import write_llama_70b

RECIPE = """\
schema: trtspec/v1
name: llama-70b-ngram
backend: pytorch
target: {model: ./target, tensor_parallel: 4}
speculation: {method: ngram, draft_length: 4}
"""


def main() -> None:
    """Measure each command in processes of its own."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        write_llama_70b(Path(folder) / "target")
        recipe = Path(folder) / "recipe.yaml"
        recipe.write_text(RECIPE)
        for arguments in (
            ["check", str(recipe), "--trtllm", "1.2.1"],
            ["inspect", str(Path(folder) / "target")],
        ):
            measured = [_seconds(arguments) for _ in range(runs)]
            for what, times in zip(
                ("wall", "CPU"), zip(*measured, strict=True), strict=True
            ):
                print(
                    f"trtspec {arguments[0]}: {what} best {min(times):.2f} s, "
                    f"median {statistics.median(times):.2f} s of {runs}"
                )


def _seconds(arguments: list[str]) -> tuple[float, float]:
    """Run a command, whatever it finds; gives wall and CPU seconds."""
    command = [sys.executable, "-m", "trtspec", *arguments]
    start, before = time.perf_counter(), _cpu_seconds()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - start, _cpu_seconds() - before


def _cpu_seconds() -> float:
    """Seconds that the processes which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
