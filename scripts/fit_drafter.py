"""Fits a drafter to a target model, on answers that the target writes itself.

    python scripts/fit_drafter.py answers --target DIR --out answers.jsonl \
        [--prompts FILE] [--own-turns N]
    python scripts/fit_drafter.py eagle3 --target DIR --answers answers.jsonl \
        --held-out held-out.jsonl --work DIR --out DIR

and in the same way `medusa`, `draft-model` and `mtp`. docs/fit-a-drafter.md says what
each costs, and when to use another trainer. An interrupted run goes on where it was
when the same command is given again.
"""

from __future__ import annotations

from trtspec.fit.command.main import main

if __name__ == "__main__":
    main()
