"""``Corpus``: the documents that tools search and read, bundled with an environment."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from math import log
from os import PathLike
from pathlib import Path

from attrs import field, frozen
from attrs.validators import instance_of
from rlenv import ConfigError
from rlenv.authoring import dumps, read_rows

from .pages import Page, read_html

WORD = re.compile(r"\w+")
# Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
K1 = 1.2
B = 0.75
MOST = 50  # words of a query
SUFFIXES = (".html", ".htm", ".md", ".txt")


@frozen(slots=False)
class Document:
    """A document that can be found and read.

    Args:
        url: by which it is read, unique in its corpus.
        text: all of it, as HTML where ``html`` says so.
        title: shown with search results; of HTML its own by default.
        kind: "page", or "paper" for those that ``scholar_search`` finds.
        html: whether the text is HTML.
    """

    url: str = field(validator=instance_of(str))
    text: str = field(validator=instance_of(str))
    title: str = field(default="", validator=instance_of(str))
    kind: str = field(default="page", validator=instance_of(str))
    html: bool = field(default=False, validator=instance_of(bool))

    @cached_property
    def page(self) -> Page:
        """Return its text as a person reads it, with headings and links."""
        return read_html(self.text) if self.html else Page(self.title, self.text)

    @property
    def shown_title(self) -> str:
        return self.title or self.page.title or self.url

    @cached_property
    def words(self) -> Counter[str]:
        return Counter(words(f"{self.shown_title} {self.page.text}"))


def words(text: str, most: int | None = None) -> list[str]:
    """Return the words of a text, in lower case; of a query only the first ``most``.

    Args:
        text: of a document or a query.
        most: how many words, None for all.
    """
    return WORD.findall(text[: None if most is None else 20 * most].casefold())[:most]


class Corpus:
    """Documents that are ranked by BM25.

    An operator may give an episode another object with ``search`` and ``document`` in its place, as
    a live search.

    Args:
        documents: with different urls.

    Raises:
        ConfigError: two have one url.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        found = list(documents)
        self.documents = {each.url: each for each in found}
        if len(self.documents) < len(found):
            (url, _), *_ = Counter(each.url for each in found).most_common(1)
            raise ConfigError(f"two documents have the url {url}")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Corpus:
        """Read a folder of .html, .md and .txt files, whose urls are their paths, or a file of
        rows.

        Args:
            path: a folder, or a file such as .jsonl with rows of url and text, and maybe title,
                kind and html.

        Raises:
            ConfigError: there is no such folder, a link in it leads out of it, or a row is not a
                document.
        """
        where = Path(path)
        found = cls(_files(where) if where.is_dir() else _rows(where))
        if not found.documents:
            raise ConfigError(
                f"{where}: no documents; expected rows, or files {', '.join(SUFFIXES)}"
            )
        return found

    @cached_property
    def sha256(self) -> str:
        """Return a digest of all documents."""
        made = [
            [each.url, each.text, each.title, each.kind, each.html]
            for each in self.documents.values()
        ]
        return sha256(dumps(made).encode()).hexdigest()

    @cached_property
    def _index(self) -> Mapping[str, list[Document]]:
        found = defaultdict[str, list[Document]](list)
        for document in self.documents.values():
            for word in document.words:
                found[word].append(document)
        return dict(found)

    @cached_property
    def _mean(self) -> float:
        return (
            sum(each.words.total() for each in self.documents.values()) / len(self.documents) or 1.0
        )

    def search(self, query: str, count: int, kind: str = "") -> list[Document]:
        """Return the best documents first.

        Args:
            query: words, in any order.
            count: how many at most.
            kind: only of this kind; "" is any.
        """
        scores = Counter[str]()
        for word in dict.fromkeys(words(query, MOST)):
            found = self._index.get(word, ())
            rarity = log(1 + (len(self.documents) - len(found) + 0.5) / (len(found) + 0.5))
            for each in found:
                often = each.words[word]
                length = each.words.total() / self._mean
                scores[each.url] += rarity * often * (K1 + 1) / (often + K1 * (1 - B + B * length))  # type: ignore[assignment] # a Counter of floats
        ranked = (self.documents[url] for url, _ in scores.most_common())
        return [each for each in ranked if kind in ("", each.kind)][:count]


def _files(folder: Path) -> Iterator[Document]:
    """Yield the documents of a folder; a link in it would show the policy a file from elsewhere."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if not path.resolve().is_relative_to(root):
            raise ConfigError(
                f"{folder}: {path.relative_to(folder)} is a link that leads out of the folder; copy"
                " what it points to, or remove it"
            )
        if path.suffix in SUFFIXES and path.is_file():
            name = path.relative_to(folder).as_posix()
            text = path.read_text("utf-8", "replace")
            yield Document(name, text, html=path.suffix in (".html", ".htm"))


def _rows(path: Path) -> Iterator[Document]:
    for number, row in read_rows(path):
        try:
            yield Document(**row)  # type: ignore[arg-type] # its validators look
        except TypeError:
            raise ConfigError(
                f"{path}:{number}: a document has url and text, and maybe title, kind and html"
            ) from None
