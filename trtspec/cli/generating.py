"""What a command shows of requests while they run, and when they are done."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from trtspec.cli.json_output import print_line

if TYPE_CHECKING:
    from trtspec.run import Completion, Request, Runner


def generate_and_show(
    runner: Runner, requests: Sequence[Request], *, as_json: bool
) -> None:
    """Run all requests; show text or JSON lines on stdout, figures on stderr.

    What the engine itself counted is a last line of JSON as well.
    """
    from trtspec.run import generate
    from trtspec.run.show import OrderedText, json_line, totals

    by_id = {request.id: request for request in requests}
    known = bool(runner.conditions().get("drafted_tokens_known", True))
    text = None if as_json else OrderedText(requests, lambda t: click.echo(t, nl=False))
    done: list[Completion] = []
    with _watching(len(requests), as_json) as finished_one:
        for chunk in generate(runner, requests):
            if text:
                text.add(chunk)
            if chunk.completion:
                done.append(chunk.completion)
                finished_one(chunk.completion)
                if as_json:
                    request = by_id[chunk.request_id]
                    print_line(
                        json_line(chunk.completion, request, drafted_known=known)
                    )
    click.echo(totals(done, drafted_known=known), err=True)
    for note in runner.notes():
        click.echo(note.text, err=True)
        if as_json:
            print_line(json.dumps(note.record))


@contextmanager
def _watching(total: int, as_json: bool) -> Iterator[Callable[[Completion], None]]:
    """Show how many requests are done, unless their text shows it already."""
    if not as_json or total == 1:
        yield lambda completion: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("requests", total=total)
            yield lambda completion: progress.advance(task)
    else:
        done = 0

        def line(completion: Completion) -> None:
            nonlocal done
            done += 1
            click.echo(f"{done}/{total}: {completion.request_id}", err=True)

        yield line
