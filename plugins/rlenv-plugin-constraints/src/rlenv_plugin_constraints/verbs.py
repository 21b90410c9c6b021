"""Whether the first word of an English text is a verb."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version

from rlenv import ConfigError

from .lists import words
from .programs import quiet

__all__ = ["begins_with_verb", "is_verb", "tagger"]

_VERSION = "0.20."  # of TextBlob, since another may tag another way
_TAGGED = 150  # characters, with the first sentence of most texts
_NO_VERBS = frozenset(("NNS", "NNPS", "IN", "JJ", "RB", "DT"))  # of Penn's tags
_FINITE_TAGS = frozenset(("VBZ", "VBP", "VBD", "MD"))
_COURTESIES = words("courtesies")

_AUXILIARY = words("auxiliaries")
_BASE = words("verbs")
_PAST = words("past_forms")
_FINITE = words("finite")
# At the head of a text these are as a rule nouns, adjectives or prepositions, unless a link
# follows.
_NEVER = words("seldom_verbs")
_LINKS = words("verb_links")


@lru_cache(maxsize=1)
def tagger() -> Callable[[str], list[tuple[str, str]]]:
    """Gives the words of a text with Penn's tags, by TextBlob's lexicon and rules.

    Nothing is downloaded.

    Raises:
        ConfigError: where the extra ``tagger`` is not installed.
    """
    try:
        found = version("textblob")
        if not found.startswith(_VERSION):
            raise ImportError(f"textblob {found} is installed")
        from textblob.taggers import PatternTagger  # type: ignore[import-untyped]
    except ImportError as err:
        remedy = (
            'pip install "textblob>=0.20.1,<0.21", or write by = "list", which takes more nouns for'
            " verbs"
        )
        raise ConfigError(f"starts_with_verb needs a tagger ({err}): {remedy}") from None
    tag: Callable[[str], list[tuple[str, str]]] = PatternTagger().tag
    with quiet():
        tag("It reads its lexicon, and leaves the file to be closed by itself.")
    return tag


def begins_with_verb(text: str, word: str, follow: str) -> bool:
    """Whether a text begins with a verb, by the lists and a tagger together.

    A tagger alone takes "Plan the trip" for a noun, and the lists alone take "Plans change" for a
    verb.

    Args:
        text: from its first word on.
        word: that word, caseless.
        follow: the word behind it, caseless.
    """
    tag, after = [*(tag for _, tag in tagger()(text[:_TAGGED])), "", ""][:2]
    if not is_verb(word, follow):
        return tag.startswith("VB") and word not in _COURTESIES
    return tag not in _NO_VERBS and not (tag.startswith("NN") and after in _FINITE_TAGS)


def is_verb(word: str, follow: str = "") -> bool:
    """Whether a caseless first word is a verb, given the word after it.

    A form that is a noun too ("love", "dreams") is none where a finite verb follows ("Love is").
    """
    word = word.split("'", maxsplit=1)[0] if word.endswith(("n't", "'s", "'re", "'ve")) else word
    if word in _AUXILIARY or word + "n" in _AUXILIARY or word.removesuffix("n") in _AUXILIARY:
        return True
    if (word.endswith("ing") and _of_ing(word)) or word in _PAST or _of_past(word):
        return True
    base = word if word in _BASE else _of_third(word)
    if not base:
        return False
    if follow in _FINITE:
        return False
    return base not in _NEVER or follow in _LINKS


def _of_third(word: str) -> str:
    for end, put in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(end) and word[: -len(end)] + put in _BASE:
            return word[: -len(end)] + put
    return ""


def _stems(stem: str) -> tuple[str, ...]:
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return stem, stem + "e", doubled, stem[:-1] + "y" if stem.endswith("i") else stem


def _of_ing(word: str) -> bool:
    stem = word[:-3]
    return len(stem) > 1 and (
        any(form in _BASE for form in _stems(stem))
        or (stem.endswith("y") and stem[:-1] + "ie" in _BASE)
    )


def _of_past(word: str) -> bool:
    return word.endswith("ed") and any(form in _BASE for form in _stems(word[:-2]))
