"""Closed classes of English words: conjunctions, pronouns, stop words; and the names of IFBench's prompts."""

from __future__ import annotations

from typing import Final

__all__ = ["CONJUNCTIONS", "MINOR", "NAMES", "PRONOUNS", "STOP_STEMS", "STOP_WORDS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONJUNCTIONS: Final = _words("and but for nor or so yet")
PRONOUNS: Final = _words(
    """i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself
    ourselves yourself yourselves himself herself itself themselves this that these those who whom whose which
    what whoever whomever whatever whichever anybody anyone anything everybody everyone everything nobody
    nothing somebody someone something each either neither both all some any none"""
)
# What remains of stop words where an apostrophe parts words: "don't" is "don" and "t".
_REMAINS: Final = _words(
    """s t d ll m o re ve y ma don ain aren couldn didn doesn hadn hasn haven isn mightn mustn needn shan
    shouldn wasn weren won wouldn"""
)
_FUNCTION: Final = _words(
    """i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is are
    was were be been being have has had having do does did doing a an the and but if or because as until while
    of at by for with about against between into through during before after above below to from up down in out
    on off over under again further then once here there when where why how all any both each few more most
    other some such no nor not only own same so than too very can will just should now"""
)
_CONTRACTED: Final = frozenset(
    f"{stem}n't"
    for stem in ["do", "are", "could", "did", "does", "had", "has", "have", "is", "might", "must", "need", "sha", "should", "was", "were", "wo", "would", "ca"]
) | frozenset(
    f"{pronoun}'{rest}"
    for pronoun, rests in {
        "i": "d ll m ve", "you": "d ll re ve", "he": "d ll s", "she": "d ll s", "it": "d ll s", "we": "d ll re ve",
        "they": "d ll re ve", "that": "ll s", "there": "s", "what": "s", "who": "s", "here": "s", "where": "s",
    }.items()
    for rest in rests.split()
)  # fmt: skip
STOP_STEMS: Final = _FUNCTION | _REMAINS
STOP_WORDS: Final = _FUNCTION | _CONTRACTED | _words("ain't should've ma")
NAMES: Final = _words(
    """emma liam sophia jackson olivia noah ava lucas isabella mason mia ethan charlotte alexander amelia
    benjamin harper leo zoe daniel chloe samuel lily matthew grace owen abigail gabriel ella jacob scarlett
    nathan victoria elijah layla nicholas audrey david hannah christopher penelope thomas nora andrew aria
    joseph claire ryan stella jonathan"""
)
# Words that title case leaves small, unless first or last.
MINOR: Final = _words(
    """a an the and but for nor or so yet as at by from in into of off on onto out over per to up upon via with
    than if"""
)
