"""Pages of HTML as a person reads them: title, text and links."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from attrs import field, frozen

UNSHOWN = {"script", "style", "template", "noscript", "svg", "title"}
LINES = {
    "p",
    "div",
    "br",
    "li",
    "tr",
    "ul",
    "ol",
    "table",
    "section",
    "article",
    "pre",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
}


@frozen
class Page:
    """A page as a person reads it.

    Args:
        title: its title.
        text: without marks; blocks are on lines of their own.
        links: (text, target) in order.
    """

    title: str
    text: str
    links: list[tuple[str, str]] = field(factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = list[str]()
        self.title = list[str]()
        self.links = list[tuple[int, int, str]]()  # from where to where of the text, and the target
        self.link: tuple[int, str] | None = None
        self.unshown = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.unshown = self.unshown or (tag if tag in UNSHOWN else "")
        if tag in LINES:
            self.text.append("\n")
        if tag == "a":
            self.link = len(self.text), dict(attrs).get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == self.unshown:
            self.unshown = ""
        if tag == "a" and self.link is not None:
            self.links.append((self.link[0], len(self.text), self.link[1]))
            self.link = None
        if tag in LINES:
            self.text.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.unshown:
            self.text.append(re.sub(r"\s+", " ", data))
        elif self.unshown == "title":
            self.title.append(data)


def read_html(html: str) -> Page:
    """Read a page of HTML."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (line.strip() for line in "".join(reader.text).splitlines())
    links = [(" ".join("".join(reader.text[a:b]).split()), to) for a, b, to in reader.links]
    return Page(" ".join("".join(reader.title).split()), "\n".join(filter(None, lines)), links)
