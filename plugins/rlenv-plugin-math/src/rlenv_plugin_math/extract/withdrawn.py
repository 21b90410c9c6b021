"""Whether a response takes its answer back behind it: "Scratch that", "Wait, that's wrong", "Ignore
the box".
"""

from __future__ import annotations

import re

from rlenv_plugin_math.languages import holds_any

from .patterns import pattern
from .sentences import sentence_end, sentences
from .values import values

_FAR = 4_000  # characters behind an answer that are read
_IT = r"\b(?:that|this|it|<<answers>>)"
_IS = r"(?:\s+(?:is|was|are|seems|looks|appears|must\s+be|(?:turn(?:s|ed)?\s+out|prove[sd]?)(?:\s+to\s+be)?)|['’]s)(?:\s+(?:<<adverbs>>))*"
_NOT = r"(?:does|did)(?:n['’]t|\s+not)"

_withdrawal = pattern(
    r"\b(?:<<withdrawn>>)(?!\w)"
    r"|\b(?:<<ignored>>)(?:\s+(?:<<pointers>>))*\s+(?:<<answers>>|above|that|this|it|everything|previous)\b"
    rf"|{_IT}(?:\s+[^\W\d_]+(?:['’]\w+)?){{0,3}}?(?:{_IS}\s+(?:<<wrong>>)|(?:{_IS})?\s+not\s+(?:\w+\s+){{0,3}}?(?:answer|it|so|requested|required|desired|wanted|sought|asked\s+for|<<right>>)|{_IS}\s+not(?=\s*(?:[.!,;。"
    r"]|$)))(?!\w)(?!\s+(?:to|if|for|unless|that)\b)"
    rf"|{_IT}(?:\s+\w+)?\s+(?:can(?:not|['’]t|\s+not)\s+be|{_NOT}\s+(?:seem|look|sound|feel))\s+(?:the\s+)?(?:answer|it|<<right>>)\b"
    rf"|{_IT}(?:\s+\w+)?\s+{_NOT}\s+(?:work|satisfy|hold|check|fit|match|make\s+sense|add\s+up)\b"
    rf"|{_IT}(?:\s+[^\s.,;!?]+){{0,4}}\s+contradicts\b"
    rf"|\b(?:do\s+not|don['’]t)\s+(?:think|believe)\s+(?:that\s+)?{_IT}(?:['’]s|\s+is)?\s+(?:the\s+)?(?:answer|<<right>>)\b"
    r"|(?:^|[.!?。"
    r"！？—–…\n(]\s*)(?:(?:oh|ah|wait|hm+|actually|sorry|but|well)\b[,.!…\s]*)+no\b(?!\s+(?:<<unless_no>>)\b)"
    r"|(?:^|[.!。"
    r"！—–…\n(])\s*(?:\w+\s?[,!]\s*)?(?:no(?:\s*[,.!]|\s+(?:that|this|it|i|is\s+not)\b)|(?:no,?\s+)?is\s+not\s+(?:\w+\s+){0,3}?(?:answer|it|<<right>>)\b)"
    r"|(?:^|[.!。！—–\n])[^.!?。！？\n\d]{0,40}\bmistake\b"
    r"|(?:^|[.!?。"
    r"！？–—,;:\n]\s*)(?:my\s+|an?\s+)?(?:mistake|error)\b(?!\s+(?:bars?|terms?|margin|is|of)\b)"
    r"|\b(?:this|that|it|is)\b(?:\s+(?!not\b)[^\W\d_]+){0,3}?\s+wrong\s+(?:<<answers>>|option|choice)\b(?:\s+(?:is|[^\x00-\x7f。"
    r"）؛،]{1,5}))*\s*(?=[.!,;。)）।۔\n]|$)"
    r"|(?:^|[.!。।۔\n(（])\s*wrong\s+(?:<<answers>>|option|choice)\b(?:\s+(?:is|[^\x00-\x7f。"
    r"）؛،]{1,5}))*\s*(?=[.!。)）।۔\n]|$)"
    r"|\bno[,.!]?\s+wait\b|(?:^|[.!。！—–\n(])\s*(?:no|<<wrong>>)\b\s*(?=[.!。！)\n]|$)"
    r"|(?:^|[.!。！—–\n(])\s*(?:\w+\s?[,!]\s*){0,2}(?:this\s+|that\s+)?(?:is\s+)+(?:<<wrong>>)\b"
)
_other_value = pattern(r"(?:[;；؛]|,\s*but\b)\s*[$(]*[-\d.,/]*\d[\s$)—–]*\Z", 0)
_elsewhere = pattern(r"\b(?:<<supposing>>)\b|\b(?:since|because)\b[^.!?\n]*\d")
# Words that let the answer stand after all: "Yes, the answer is correct".
_affirmation = pattern(
    rf"{_IT}(?:\s+\w+){{0,3}}?(?:\s+(?:is|was)|['’]s)\s+(?!not\b)(?:\w+\s+)?(?<!not\s)(?:<<right>>)\b"
    r"|\bchecks?\s+out\b|\bstill\s+(?:holds|correct|stands)\b|\banswer\s+stands\b"
)


_unsure = pattern(
    r"\b(?:<<unsure>>)(?!\w)"
    r"|\b(?:i|i['’][md]|my|me)\b[^.!?\n]{0,60}?(?:n['’]t|\b(?:not|no|never|little|hardly|scarcely|barely|low|zero|scant|without|lack|lacks|lacking|limited|less\s+than))\b[^.!?\n]{0,30}?\b(?:<<credence>>)\b"
)
_guess = pattern(
    r"\b(?:<<doubtful>>)\b|(?<!most )(?<!more )(?<!least )(?<!equally )\blikely\b"
    r"|\b(?:could|might|may)\s+(?:\w+\s+)?be(?:\s+(?!as\b|found\b|seen\b|\w+(?:ed|en)\b)[^\W\d_]+){0,2}(?=[\s$*]*(?:[\d\\(]|\Z|(?:the\s+)?answer\b))"
    r"|[\d})$*]\s+(?:could|might|may)\s+be(?=\s*(?:[^\x00-\x7f]|[.,]|\Z))"
)
_others_doubt = pattern(r"\b(?:you|your|if|when|in\s+case|why|no\s+doubt|without)\b")
_clause = pattern(r"[,;:.!?。！？\n]|\b(?:so|therefore|thus|hence|then|since|because|that)\b")


def doubted(text: str, first: int, last: int, end: int, *, spoken: bool) -> bool:
    """Whether the words around the only answer of a text, from ``first`` to ``last``, make a guess
    of it.

    ``spoken`` says that the answer is a sentence or the rest of one.
    """
    near = text[max(0, first - 80) : min(end, last + _FAR)]
    if not holds_any("doubt", near) or (spoken and len(values(text[first:last])) > 1):
        return False
    lead = _clause().split(text[max(0, first - 80) : first].rstrip(" $\\([*,"))[-1]
    stop = sentence_end(text, last, end)
    around = f"{lead} {text[first:last] if spoken else ''} {text[last : min(stop, last + 120)]}"
    behind = text[stop : sentence_end(text, min(stop + 1, end), end)]
    if _guess().search(around) or _unsure().search(around) or _doubts_it(behind[:120]):
        return True
    return any(_doubts_it(text[slice(*s)]) for s in sentences(text, stop, min(end, last + _FAR)))


def _doubts_it(sentence: str) -> bool:
    """Whether a sentence further behind an answer doubts it; not "Tell me if you are not sure about
    a step".
    """
    return _unsure().search(sentence) is not None and not _others_doubt().search(sentence)


def withdrawn(text: str, at: int, end: int) -> int | None:
    """Index behind the last words that take back the answer that ends at ``at``; None when it
    stands.
    """
    tail = text[at : min(end, at + _FAR)]
    if not holds_any("takeback", tail):
        return None
    ends = [mark.end() for mark in _withdrawal().finditer(tail) if not _is_aside(tail, mark)]
    return at + ends[-1] if ends and not _affirmation().search(tail, ends[-1]) else None


def _is_aside(tail: str, mark: re.Match[str]) -> bool:
    """Whether the words are quoted, or speak of something else than the answer."""
    before = tail[: mark.start()]
    if before.count('"') % 2 or any(
        before.count(a) > before.count(b) for a, b in ("“”", "«»", "„“", "「」")
    ):
        return True
    if _other_value().search(before):
        return True  # "42; 41 is wrong": it is that value that is taken back
    start = max(map(before.rfind, ".!?\n。！？"))
    return _elsewhere().search(tail, start + 1, mark.end()) is not None
