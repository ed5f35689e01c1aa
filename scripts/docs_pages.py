"""What stands in the Markdown files of the repository: links, anchors, blocks of code.

Read with markdown-it-py, which rich brings along, so that what counts as a link or a
block is what CommonMark says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
WITHIN = ("docs", "recipes", "deploy", "engines", "tests")
"""Folders that are looked into, beside the repository's own top level."""
PARSER = MarkdownIt("commonmark").enable("table")
COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.S)
SCHEMES = ("http", "https", "mailto")


@dataclass(frozen=True)
class Link:
    """One link: its line in the page, and where it leads."""

    line: int
    target: str


@dataclass(frozen=True)
class Block:
    """One block of code.

    :param language: the word behind the fence; empty for an indented block.
    :param marker: the comment right above it, or ``generated: ...`` between that
        comment and ``end``; without ``<!--`` and ``-->``.
    """

    line: int
    language: str
    text: str
    marker: str


def pages(root: Path = ROOT) -> list[Path]:
    """List the Markdown files of the repository, without those of built artifacts."""
    found = [*root.glob("*.md"), *root.glob("engines/README.md")]
    for folder in WITHIN:
        for place, folders, names in os.walk(root / folder):
            folders[:] = [] if folder == "engines" else _visited(folders)
            found += [Path(place, name) for name in names if name.endswith(".md")]
    return sorted(set(found))


def _visited(folders: list[str]) -> list[str]:
    return [name for name in folders if name[0] not in "._"]


def links(text: str) -> Iterator[Link]:
    """List the links and pictures of a page."""
    for token in PARSER.parse(text):
        line = (token.map or [0])[0] + 1
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target is not None:
                yield Link(line, str(target))


def anchors(text: str) -> set[str]:
    """Give the anchors of a page, as GitHub and MyST make them from its headings."""
    found: dict[str, int] = {}
    names: set[str] = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    tokens = PARSER.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        slug = _slug("".join(_words(inline)))
        seen = found.get(slug, 0)
        found[slug] = seen + 1
        names.add(f"{slug}-{seen}" if seen else slug)
    return names


def _words(heading: Token) -> Iterator[str]:
    for child in heading.children or ():
        if child.type in ("text", "code_inline"):
            yield child.content


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def fault(page: Path, link: Link) -> str:
    """Say what is wrong with a link; empty if nothing is.

    A link out of the repository is not followed: only its syntax is looked at.
    """
    parts = urlsplit(link.target)
    if parts.scheme or parts.netloc:
        return _external_fault(link.target)
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if ROOT in page.parents and ROOT not in (path, *path.parents):
        return f"{parts.path} leads out of the repository"
    if not path.exists() or (parts.path.endswith("/") and not path.is_dir()):
        return f"there is no {parts.path}"
    if parts.fragment and path.suffix == ".md":
        known = anchors(path.read_text(encoding="utf-8"))
        if parts.fragment not in known:
            return f"{path.name} has no heading #{parts.fragment}"
    return ""


def _external_fault(target: str) -> str:
    parts = urlsplit(target)
    if parts.scheme not in SCHEMES:
        return f"{parts.scheme or 'no'} scheme; allowed: {', '.join(SCHEMES)}"
    if parts.scheme == "mailto":
        return "" if "@" in parts.path else "no address"
    host = parts.hostname or ""
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", host):
        return f"no host in {target}"
    return "white space in it" if re.search(r"\s|%20", target) else ""


def blocks(text: str) -> Iterator[Block]:
    """List the blocks of code of a page, each with the comment right above it."""
    marker, region = "", ""
    for token in PARSER.parse(text):
        if token.type == "html_block":
            for comment in COMMENT.findall(token.content):
                marker = comment
                if comment == "end" or comment.startswith("generated:"):
                    region = "" if comment == "end" else comment
            continue
        if token.type in ("fence", "code_block"):
            line = (token.map or [0])[0] + 1
            language = token.info.split()[0] if token.info.strip() else ""
            yield Block(line, language, token.content, region or marker)
        marker = ""
