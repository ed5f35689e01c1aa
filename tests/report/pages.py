"""Reads a page as a strict browser would: balance, ids, what it loads, its text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
LOADING = {
    "src",
    "href",
    "xlink:href",
    "srcset",
    "data",
    "poster",
    "action",
    "background",
}


class Page(HTMLParser):
    """A page that was read."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.problems: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.style = "\n".join(re.findall(r"<style>(.*?)</style>", html, re.S))
        self.feed(html)
        self.close()
        self.problems += [f"<{tag}> is never closed" for tag in self.open]

    @property
    def text(self) -> str:
        """All text, in one line."""
        return " ".join(" ".join(self.words).split())

    @property
    def loads(self) -> list[str]:
        """Every address that a browser would follow or fetch."""
        found = [
            value or ""
            for _, attributes in self.tags
            for name, value in attributes.items()
            if name in LOADING
        ]
        return found + re.findall(r"url\(([^)]*)\)|@import", self.style)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of each element with a tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice")
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
            return
        self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)
