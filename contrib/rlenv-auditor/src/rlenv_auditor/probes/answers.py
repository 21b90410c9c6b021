"""Answers with one part missing, special or in other letters, and words of the prompt in the place
of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlenv_auditor.bench import Bench
from rlenv_auditor.components import alone, special_documents, specials
from rlenv_auditor.items import named, plain
from rlenv_auditor.places import Place, places
from rlenv_auditor.solved import plainly_in

from .base import Probe, Skip, Try

__all__ = ["PROBES"]

NO_PLACE = "no right response has its answer in one place that is known"
TASKS = 12  # of the profile ci: the cost of these probes is the same for any larger sample
QUOTED = re.compile(
    r"\"([^\"\n]{1,60})\"|(?<!\w)'([^'\n]{1,60})'(?!\w)|[\u201c\u201e]([^\u201c\u201d\n]{1,60})[\u201c\u201d]|`([^`\n]{1,60})`"
)
WORD = re.compile(r"[^\W\d_][\w'-]{2,30}")
WORDS = 8  # words of one prompt; the strings in quotes come first
CASED = re.compile(
    r"(?i)\b(?:upper ?-?case|lower ?-?case|capital letters|in capitals|all caps|small"
    r" letters|case[- ]sensitive|letter case|camel ?case|snake_case|verbatim)\b"
)
UNCASED = re.compile(
    r"(?i)case[- ]?insensitiv|\bany case\b|\bcase (?:does not|doesn't|is not|is ignored)|regardless"
    r" of (?:the )?case|ignor\w+ (?:the )?case|upper ?-?case or lower"
)
KEYS = re.compile(
    r"(?i)\b(?:key|code|token|hash|password|identifier|base64|serial|checksum|decode|encode)\b"
)
KEY = re.compile(r"(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)\S{4,}")


def _some(bench: Bench) -> Sequence[Place]:
    found = list(places(bench))
    if not found:
        raise Skip(NO_PLACE, code="no-right-response")
    return found if bench.full else found[:TASKS]


def _special(bench: Bench) -> Iterator[Try]:
    """In each part of the answer, and in each leaf of a document."""
    for place in _some(bench):
        gold = place.written(place.answer)
        made = list(special_documents(gold))
        if not made:
            made = [(name, place.written(text)) for name, text in specials(place.answer)]
        for name, text in made:
            if text != gold and not plainly_in(place.task, text):
                yield Try(place.task, text, "lose", name, other=True)


def _partial(bench: Bench) -> Iterator[Try]:
    """A part of the answer in the place of the whole."""
    for place in _some(bench):
        for name, part in alone(place.answer):
            text = place.written(part)
            if not plainly_in(place.task, text):
                yield Try(place.task, text, "lose", name, other=True)


def _cased(bench: Bench) -> Iterator[Try]:
    """The answer in other letters, where the prompt fixes them or the answer is a key."""
    some = False
    for place in _some(bench):
        if not _case_matters(place):
            continue
        some = True
        own = place.answer
        forms = {
            "lower case": own.lower(),
            "upper case": own.upper(),
            "the other case": own.swapcase(),
        }
        for name, text in forms.items():
            if text != own:
                yield Try(place.task, place.written(text), name=f"the answer in {name}", other=True)
    if not some:
        raise Skip("no prompt says that upper and lower case matter", code="not-asked-for")


def _case_matters(place: Place) -> bool:
    prompt = place.task.prompt
    if UNCASED.search(prompt):
        return False
    is_key = KEYS.search(prompt) is not None and KEY.fullmatch(place.answer.strip()) is not None
    return is_key or CASED.search(prompt) is not None


def _words(bench: Bench) -> Iterator[Try]:
    """Each string in quotes, and some words of the prompt, in the place of the answer."""
    for place in _some(bench):
        prompt = place.task.prompt
        quoted = ["".join(groups) for groups in QUOTED.findall(prompt)]
        words = [one for one in dict.fromkeys(WORD.findall(prompt)) if one not in quoted]
        names = [one for one in words[1:] if one[0].isupper()]
        others = [one for one in words if one not in names]
        bench.chance("words", place.task.id).shuffle(others)
        right = {plain(one) for one in named(prompt, [place.answer])}
        texts = dict.fromkeys(quoted, "a string in quotes of the prompt")
        texts |= dict.fromkeys([*names, *others][:WORDS], "a word of the prompt")
        for text, name in texts.items():
            if _may_be_right(place, text) or plain(text) in right:
                continue
            response = place.written(text)
            if not plainly_in(place.task, response):
                yield Try(place.task, response, name=name, other=True)


def _may_be_right(place: Place, text: str) -> bool:
    """A part of the answer may be another way to say it."""
    return not plain(text) or plain(text) in plain(place.answer)


PROBES = (
    Probe(
        "gold.special",
        "a special value in a part of the answer is not paid",
        "critical",
        "compare so that NaN fails: require abs(a - b) <= tolerance and finite numbers, and no"
        " missing part",
        tries=_special,
    ),
    Probe(
        "gold.partial",
        "a part of the answer is not paid as the whole",
        "critical",
        "require every part of the answer, and nothing besides",
        tries=_partial,
    ),
    Probe(
        "gold.case",
        "letters of another case are another answer where the case matters",
        "high",
        "do not fold letter case where the task asks for it",
        tries=_cased,
    ),
    Probe(
        "baselines.words",
        "a word of the prompt is not an answer",
        "critical",
        "compare with the answer, and do not search the prompt for what the response says",
        tries=_words,
    ),
)
