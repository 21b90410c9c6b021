"""Sections that plugins add to a report: their markup is taken apart and only what cannot act is
put together again.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rlenv.plugins.registry import registry

from .markup import esc, section

if TYPE_CHECKING:
    from rlenv.environment import Environment

MOST = 200_000  # characters of one plugin's sections
DEEPEST = 50
TAGS = frozenset(
    [
        "p",
        "h3",
        "h4",
        "ul",
        "ol",
        "li",
        "strong",
        "em",
        "code",
        "br",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "svg",
        "g",
        "title",
        "desc",
        "line",
        "rect",
        "circle",
        "ellipse",
        "polyline",
        "polygon",
        "path",
        "text",
        "tspan",
    ]
)
CLASSES = frozenset({"note", "how", "n", "scroll"})
VOID = frozenset({"br"})
HIDDEN = frozenset({"script", "style", "template", "iframe", "object", "math"})
ATTRIBUTES = {
    name.lower(): name
    for name in [
        "class",
        "role",
        "aria-label",
        "aria-hidden",
        "scope",
        "colspan",
        "rowspan",
        "viewBox",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "dx",
        "dy",
        "d",
        "points",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-dasharray",
        "opacity",
        "text-anchor",
        "font-size",
    ]
}


def sections(env: Environment, *, public: bool = False) -> str:
    """What the plugins of this environment say of it (``rlenv_report_sections``), as harmless HTML.

    A plugin that fails is named in a section of its own: no report is lost for it.
    """
    return "".join(_section(title, html) for title, html in _said(env, public=public))


def _said(env: Environment, *, public: bool) -> Iterator[tuple[str, str]]:
    offered = {"env": env, "public": public}
    found = registry().manager.hook.rlenv_report_sections.get_hookimpls()
    for impl in sorted(found, key=attrgetter("plugin_name")):
        try:
            made: Any = impl.function(*[offered[name] for name in impl.argnames])
            pairs = [(str(title), str(html)) for title, html in made or ()]
            if sum(len(html) for _, html in pairs) > MOST:
                raise ValueError(f"more than {MOST} characters")
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            why = f"{type(error).__name__}: {error}"
            said = f'<p class="note">Its section could not be made: {esc(why, 300)}</p>'
            pairs = [(f"Plugin {impl.plugin_name}", said)]
        yield from pairs


def _section(title: str, html: str) -> str:
    return section(title[:200], harmless(html), "plugin")


def harmless(html: str) -> str:
    """``html`` without anything that could run, load, link, style or leave its section; every tag
    is closed.

    Example: harmless('<p onclick="x()">a<script>b</script>') == "<p>a</p>"
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join((*reader.kept, *(f"</{tag}>" for tag in reversed(reader.open))))


class _Reader(HTMLParser):
    """Puts together what is allowed, in ASCII."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.kept: list[str] = []
        self.open: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self._hidden.append(tag)
        if self._hidden or tag not in TAGS or len(self.open) >= DEEPEST:
            return
        named = "".join(_attribute(name, value or "") for name, value in attrs)
        self.kept.append(f"<{tag}{named}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            return
        before = len(self.open)
        self.handle_starttag(tag, attrs)
        if len(self.open) > before:
            self.kept.append(f"</{self.open.pop()}>")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag == self._hidden[-1]:
                self._hidden.pop()
        elif tag in self.open:
            while True:
                closed = self.open.pop()
                self.kept.append(f"</{closed}>")
                if closed == tag:
                    return

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.kept.append(esc(data, MOST))


def _attribute(name: str, value: str) -> str:
    if name == "class":
        value = " ".join(word for word in value.split() if word in CLASSES)
    if name not in ATTRIBUTES or "url(" in value.lower() or "\\" in value:
        return ""
    return f' {ATTRIBUTES[name]}="{esc(value, MOST)}"'
