"""Tools that search and read the corpus of an episode; what a document says is data, whoever it
claims to be.
"""

from __future__ import annotations

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

from .corpus import MOST, Corpus, Document, words

PAGE = 20_000  # characters that one visit shows
SNIPPET = 300


@tool(category="information retrieval", deterministic=True, stateful=False)
def web_search(context: ToolContext, query: str, count: int = 5) -> list[dict[str, str]]:
    """Search the web.

    Args:
        context: of the episode; the policy does not give it.
        query: what to look for, as words.
        count: how many results to show, from 1 to 20.
    """
    return _results(context, query, count, "")


@tool(category="information retrieval", deterministic=True, stateful=False)
def scholar_search(context: ToolContext, query: str, count: int = 5) -> list[dict[str, str]]:
    """Search scientific papers.

    Args:
        context: of the episode; the policy does not give it.
        query: what to look for, as words.
        count: how many results to show, from 1 to 20.
    """
    return _results(context, query, count, "paper")


@tool(category="content extraction", deterministic=True, stateful=False)
def visit(context: ToolContext, url: str, start: int = 0) -> str:
    """Read a page as text.

    Args:
        context: of the episode; the policy does not give it.
        url: of a search result, or a link.
        start: the first character to show.
    """
    document = _document(context, url)
    text = document.page.text
    left = len(text) - max(start, 0) - PAGE
    more = f"\n[{left:,} more characters; start = {max(start, 0) + PAGE}]" if left > 0 else ""
    return f"{document.shown_title}\n\n{text[max(start, 0) :][:PAGE]}{more}"


@tool(category="content extraction", deterministic=True, stateful=False)
def web_scrape(context: ToolContext, url: str) -> list[dict[str, str]]:
    """Extract the links of a page, each as its text and its target.

    Args:
        context: of the episode; the policy does not give it.
        url: of a search result, or a link.
    """
    return [{"text": text, "url": target} for text, target in _document(context, url).page.links]


def _results(context: ToolContext, query: str, count: int, kind: str) -> list[dict[str, str]]:
    found = context.get(Corpus).search(query, min(max(count, 1), 20), kind)
    return [{"title": d.shown_title, "url": d.url, "snippet": _snippet(d, query)} for d in found]


def _snippet(document: Document, query: str) -> str:
    """Return the text from a little before the first word of the query that is there."""
    text = " ".join(document.page.text.split())
    low = text.casefold()
    places = [place for word in words(query, MOST) if (place := low.find(word)) >= 0]
    start = max(min(places, default=0) - 60, 0)
    return text[start : start + SNIPPET]


def _document(context: ToolContext, url: str) -> Document:
    found = context.get(Corpus).documents.get(url)
    if found is None:
        raise ToolError(f"there is no page {url:.200}; search for one")
    return found
