"""``[resources]``: what the tools of the catalog work with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from attrs import define, field
from rlenv.authoring import File, Safe

from .asking import Respondent
from .corpus import Corpus


@define(slots=False)
class Resources:
    """``[resources]``: what the tools of the catalog work with.

    Args:
        corpus: what ``web_search``, ``scholar_search``, ``visit`` and ``web_scrape`` find: a folder
            of .html, .md and .txt files, or a file of rows with url, text and maybe title, kind and
            html.
        answers: what the user says to ``ask_user``, in this order.
    """

    corpus: File = field(factory=File, kw_only=True)
    answers: Safe[Sequence[str]] = field(default=(), kw_only=True)
    sha256: str = field(init=False, default="", repr=False)

    def __attrs_post_init__(self) -> None:
        self.sha256 = self._corpus.sha256 if self._corpus else ""

    @cached_property
    def _corpus(self) -> Corpus | None:
        return Corpus.load(File(self.corpus).path) if self.corpus else None

    def parts(self) -> dict[type, object]:
        """Return what one episode holds of them, by type."""
        made: dict[type, object] = {Respondent: Respondent.scripted(self.answers)}
        return made if self._corpus is None else {**made, Corpus: self._corpus}
