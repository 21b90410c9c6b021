"""What a response says of a value that it names: that it is wrong, that others say it, that it
holds elsewhere.

A denial of the very value anywhere behind an answer withdraws it, in whatever form the answer was
given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlenv_plugin_math.languages import denials_uncovered, holds_any, rejects_uncovered

from . import wording
from .assertion import is_unasserted
from .found import Claim, Extraction
from .patterns import pattern
from .readings import stated_value, without_rejected
from .sentences import sentences
from .statements import statements
from .values import values

_FAR = 4_000  # characters behind an answer that are read
_LONGEST = 600  # a longer text is no final statement
_LEAD = 240  # characters before a value that are read
_SLOTS = frozenset({"boxed", "answer-tag", "json", "hash"})  # what no prose is
_REMARK = 80  # characters of a remark on the whole answer: "That is not right, sorry"
_SHORTEST = 9  # characters of what can mention a value: "I doubt 5"
_OPENERS = ' \t$\\([{*_"“«「:：'
_MARKUP = re.compile(r"[\s$*,.;!?()\[\]{}]|\\(?:left|right|text|mathrm|[()\[\],;:! ])|\\")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")

_NOUN = r"(?:(?:<<answers>>|option|choice|total|guess|candidate|letter)s?)"
_BE = r"(?:is|are|was|were|be|been|being|would|could|will|might|must|seems?|equals?)"
_LINK = (
    rf"(?:\s*(?:{_BE}|here|then|thus|of|the|an?|that|i|we|people|students|which|some|many|often"
    rf"|commonly|gives?|given|gets?|got|reach(?:ed)?|offered|stated|proposed|to\s+\w+)\b"
    rf"|\s*[:：=—–-])*"
)
_LATER = (
    r"(?:(?:<<adverbs>>|not\s+only|even|really|truly|at\s+all|by\s+any\s+means|in\s+any\s+way"
    r"|ever|um)\s+)*"
)

_ends = pattern(r"[.!?][\"')*_]*\s|[\n。！？।۔]|[;；؛]\s?", 0)
_sentences = pattern(r"[.!?][\"')*_]*\s|[\n。！？।۔]", 0)
_turns = pattern(r"\b(?:but|however|yet|though|although|whereas|while)\b")

_wrong_before = pattern(
    rf"\b(?:<<wrong>>)\s+(?:\w+\s+)?{_NOUN}\b{_LINK}\s*\Z"
    rf"|\b{_NOUN}\s+(?:(?:that|which)\s+)?(?:{_BE}\s+)?(?:<<wrong>>)\s*(?:is|are|was|would\s+be|:"
    rf"|：|=|—|–)\s*\Z"
    r"|\b(?:is\s+wrong|that\s+is\s+wrong|i\s+take\s+it\s+back)\s+is\s*\Z"
    r"|\bi\s+(?:\w+\s+)?doubt\b[^\d,;]*\Z"
    r"|\b(?:do\s+not|don['’]t|no\s+longer)\s+(?:think|believe)\b[^\d,;]*\Z"
    r"|(?:\bnot|n['’]t|\bnever)\s+(?:claim|say|assert|argu|stat|suggest)(?:ing|e)?\s+(?:that\b)?[^\d,;]*\Z"
    r"|\b(?:premature|too\s+early|rash)\s+to\s+(?:say|claim|conclude|assert)\b[^\d,;]*\Z"
    r"|\b(?:reject|discard|exclude|eliminate|dismiss|disregard|rule\s+out|rule|ruled|ruling"
    r"|cross\s+out|strike\s+out|throw\s+out|toss)(?:s|ed|ing)?\s*(?:the\s+)?(?:(?:<<answers>>"
    r"|option|choice)\s+)?(?:of\s+|out\s+)?\s*\Z"
    r"|\b(?:unclear|unknown|doubtful|questionable|unlikely|uncertain)\b[^\d.,;]*\b(?:if|whether"
    r"|that)\b[^\d.,;]*\Z"
)

_reported = pattern(
    r"\b(?<!no"
    r" )(?:<<reporters>>)\b(?:\s+(?!not\b|n['’]t)[^\W\d_]+){0,4}?\s+(?:<<says>>)\b,?[^\d$\\,;:]"
    r"*(?:,?\s+that)?[^\d$\\,;:]*\Z"
    r"|\b(?:<<reporters>>|you|they)\s+(?:\w+\s+)?(?:would|might|may|could"
    r"|will)\s+(?:\w+\s+){0,3}?(?:<<says>>|answer|guess|state|get|put|reply"
    r"|respond)\b[^\d$\\,;:]*\Z"
    r"|\b(?:<<says>>)\s+(?:[^\W\d_]+\s+){0,2}?(?:<<reporters>>)\b[^\d$\\,;:]*\Z"
    r"|\baccording\s+to\s+(?:my|some|many|his|her|their|a|an"
    r"|the)\s+(?:\w+\s+)?(?:<<reporters>>)\b,?[^\d$\\,;:]*(?:,[^\d$\\,;:]*)?\Z"
    r"|\b(?:it|this|that|answer)\s+(?:is|was|has\s+been)\s+(?:\w+\s+)?(?:claimed|said|believed"
    r"|thought|assumed|reported|rumou?red|suggested)\b[^\d$\\,;:]*\Z"
    r"|\b(?:claimed|alleged|rumou?red|so-called|supposed)\s+(?:answer|result|solution"
    r"|value)\b[^\d$\\,;:]*\Z"
)
_reporter_before = pattern(r"\b(?:<<reporters>>)\b[^\d.,;:]{0,24}\Z")
_says_behind = pattern(
    r"[\s$*)\]}\"”」]*(?:(?:and|that|,|would|might|is|to|[^\x00-\x7f]\w*"
    r"|\w*[^\x00-\x7f]\w*)\s+)*(?:says?|said|would\s+say|think|thinks)\b"
)

_counterfactual = pattern(
    r"\bif\s+it\s+were\b|\bif\b[^.!?\n]*\b(?:were|weren['’]t|wasn['’]t|had|hadn['’]t)\b|(?:\A"
    r"|,\s*)\s*(?:had|were)\b|\bwhere\b[^.!?\n]*\bwere\b|\bif\b[^.!?\n]*,|\b(?:suppos|imagin"
    r"|pretend)\w*\b[^.!?\n]*\b(?:were|had)\b"
)
_would_be = pattern(
    rf"\b{_NOUN}\b[^\d,;]{{0,24}}\b(?:would|could|might)\s+(?:\w+\s+)?(?:be|have|become|equal"
    rf"|come)\b[^\d]{{0,24}}\Z"
    rf"|\bwould\s+be\b[^\d,;]{{0,16}}\b{_NOUN}\b[^\d,;]{{0,12}}\Z"
)
_noun_near = pattern(rf"\b{_NOUN}\b[^\d]{{0,32}}\Z")
_if_behind = pattern(r"[^.!?\n]*\b(?:if\s+it\s+were\b|(?:if|had|were)\b)")

_subject = (
    rf"(?:\b(?:<<answers>>|it|that|this|option|choice|letter)\b(?:\s+(?!is\b"
    rf"|not\b)[^\W\d_]+){{0,3}}?(?:\s+(?:{_BE}|can)\b|['’]s)?|(?:\A|[,:;—–]|\b(?:but|so|and"
    rf"|hence|thus|therefore|actually|no|sorry|well|wait)\b)(?:\s*{_BE}\b)?)"
)
_not_before = pattern(
    rf"{_subject}(?:\s+is)*\s*{_LATER}(?:\bnot|n['’]t|\bnever|\bcannot)\b\s*{_LATER}(?:(?:be"
    rf"|equal|equals|equal\s+to|is)\b\s*)*(?:the\s+number\s+|the\s+value\s+|option\s+)?\Z"
    rf"|\b{_NOUN}\b[^\d.,;]{{0,16}}\b(?:differs\s+from|(?:is|was)\s+(?:different\s+from"
    rf"|other\s+than|anything\s+but))\s*\Z"
)
_wrong_that = pattern(
    r"\b(?:wrong|false|incorrect|untrue|mistaken|mistake|error|not\s+(?:true|correct|right"
    r"|the\s+case))\s+(?:that|to)\b[^\d,;]{0,40}\Z"
)
_over = pattern(
    r"[\s$*)\]}\"”」]*(?:\\?%|°)?(?:\s*(?!not\b|but\s+also)[^\W\d_]+\b){0,2}?[\s$*)\]}]*(?:[.!,;:。"
    r"！،؛।۔—–(]|\Z|\b(?:but|because|since|as|and|either|at\s+all|after\s+all|anymore|it|here"
    r"|though|however|in\s+fact|so)\b)"
)

_STOP = (
    r"(?=\s*(?:answer|solution|result|value|number|choice|option|one|either|here|after\s+all"
    r"|at\s+all|anymore|though|however)?\s*(?:[.,;:!。"
    r"！）)—–।۔]|\Z|because|since|as\b|but\b|and\b|so\b))"
)
_denied_after = pattern(
    rf"[\s$*)\]}}\"”」\\]*(?:[^\W\d_]+\s+)??(?:,\s*)?(?:(?:{_BE}|turn(?:s|ed)?\s+out"
    rf"|prove[sd]?)\s+(?:to\s+)?(?:{_BE}\s+)*{_LATER}(?:[^\W\d_]+\s+)?(?<!not\s)(?:<<wrong>>"
    rf"|wrong\s+{_NOUN}|rejected|excluded|ruled\s+out|discarded"
    rf"|out\s+of\s+the\s+question)\b(?!\s+(?:to|if|for|unless|when|sign|that)\b)"
    rf"|(?:(?:{_BE}|can|do|does|did)(?:\s+is)*\s*{_LATER}(?:\bnot|n['’]t|never)|cannot|can\s+not"
    rf"|can['’]t)\s+{_LATER}(?:be\s+)?{_LATER}(?:(?:the|an?|my|our|d(?:ie|as|er)|l[aeo]|el|il"
    rf"|una?|une|u[mn]a?)\s+)?(?:(?:right|correct|final|true|valid|actual|real|desired"
    rf"|sought)\s+)*(?:answer|solution|result|it|so|the\s+case|possible|acceptable|what\s+(?:we"
    rf"|i|you|the|is|was)\b[^.,;!?\d]{{0,40}}|<<right>>){_STOP}"
    rf"|not\s+(?:the|an?|d(?:ie|as|er)|l[aeo]|el|il)\s+(?:(?:right|correct|final"
    rf"|true)\s+)*(?:answer|solution|result){_STOP}"
    r"|(?:has|have|had|needs?|ought|must)\s+(?:to\s+)?be\s+(?:rejected|discarded|excluded"
    r"|eliminated|dismissed|thrown\s+out|ruled\s+out|wrong|incorrect)\b"
    r"|(?:does|do|did)(?:n['’]t|\s+not)\s+(?:work|satisfy|hold|fit|check|solve|match|follow|agree"
    r"|meet|fulfill?|obey|qualify|belong|apply|suffice|make\s+sense|add\s+up|answer)\b"
    rf"|[—–-]\s*not\s+(?:an?\s+|the\s+)?(?:correct|right)\s+{_NOUN}\b"
    rf"|[—–-]?\s*wrong\s+{_NOUN}\s*(?:[.!,;。)）।۔]|\Z)"
    r"|[—–]\s*(?:an?\s+)?(?:mistake|error)\s*(?:[.!,;。)）।۔]|\Z)"
    r"|fails\b|contradicts\b|violates\b|conflicts\s+with\b|breaks\s+the\b|overshoots\b"
    r"|undershoots\b|is\s+not\s+it\b|(?:is\s+)*wrong\b\s*(?:[.!,;。"
    r"।۔]|\Z))"
)
_elsewhere = pattern(
    r"\b(?:if|unless|whether|suppos\w*|assum\w*|imagine|without|had|were|question|claim|saying"
    r"|many|some|students?|people|might|would|forgot\w*|forget\w*|when|why|avoid)\b"
)


def _mentioned(text: str, start: int, end: int) -> bool:
    """Whether the sentence around ``text[start:end]`` only mentions that value: as wrong, as what
    others say, or under a counterfactual.
    """
    whole = _ends().split(text[max(0, start - _LEAD) : start])[-1].rstrip(_OPENERS.replace(":", ""))
    lead = _turns().split(whole)[-1].rstrip(' \t$\\([{*_"“«「')
    if _denied_after().match(text, end):
        return True
    if not lead.strip():
        return False
    if _wrong_before().search(lead) or _reported().search(lead.rstrip(" :：")):
        return True
    after = text[end : end + 120]
    if _reporter_before().search(lead) and _says_behind().match(after):
        return True
    return _is_hypothetical(text, start, after)


def _is_hypothetical(text: str, start: int, after: str) -> bool:
    """Whether a value is what the answer would be if something else were so."""
    whole = _sentences().split(text[max(0, start - _LEAD) : start])[-1]
    lead = re.split(r"[,;]\s*but\b", whole)[-1].rstrip(' \t$\\([{*_"“«「')
    if re.match(r"[\s$*)]*would be\b", after):
        return bool(_noun_near().search(lead))
    if _counterfactual().search(lead):
        return bool(_would_be().search(lead)) or (
            "if it were" in lead.lower() and bool(_noun_near().search(lead))
        )
    return bool(_would_be().search(lead) and _if_behind().match(after))


def only_mentioned(text: str, claim: Claim, *, rivals: bool = False) -> bool:
    """Whether a response only mentions the value of a claim: as wrong, as what others say, or under
    a counterfactual.

    A claim that ``rivals`` the answer need not be asserted.
    """
    around = text[_line(text, claim.start) : claim.end + 120]
    if len(around) < _SHORTEST:
        return False
    may_mention = holds_any("mention", around)
    is_slot = rivals or claim.how in _SLOTS or claim.end - claim.start > _LONGEST
    if not may_mention and (is_slot or not wording.words().search(around)):
        return False
    start, end = _place(text, claim)
    if may_mention and _mentioned(text, start, end):
        return True
    return not is_slot and is_unasserted(text, start, end)


def _line(text: str, at: int) -> int:
    """Where the line that holds index ``at`` begins, or as far back as is read."""
    far = max(0, at - _LEAD)
    return max(far, text.rfind("\n", far, at))


def _place(text: str, claim: Claim) -> tuple[int, int]:
    """Where the value of a claim is, which may be a whole sentence."""
    content = text[claim.start : claim.end]
    if " " not in content or claim.how == "boxed":
        return claim.start, claim.end
    content = without_rejected(content)
    stated = _named(content)
    if len(stated) > 1:
        said, _ = stated_value(content)
        stated = [v for v in stated if said and v.text.strip("()") == said.strip("()")]
    if not stated:
        return claim.start, claim.start + len(content)
    return claim.start + stated[0].start, claim.start + stated[0].end


def denied_behind(text: str, extraction: Extraction, end: int) -> int | None:
    """Index behind the last sentence that denies the answer's own value and is not affirmed again;
    None when it stands.
    """
    assert extraction.span is not None
    first = extraction.span[1]
    last = min(end, first + _FAR)
    if last - first < 4 or not holds_any("denial", text[first:last]):
        return None
    own = _own(extraction)
    tail = _MARKUP.sub("", _FRACTION.sub(r"\1/\2", text[first:last]))
    if not any(_MARKUP.sub("", form) in tail for form in own) and not _denied_after().match(
        text, first, last
    ):
        return None
    at = first if _denied_after().match(text, first, last) else None
    for start, stop in _parts(text, first, last):
        if any(_denies(text[start:stop], value, own) for value in _named(text[start:stop])):
            at = stop
    if at is None:
        return None
    again = any(
        _plain(c.text) & own for c in statements(text, at, end) if not only_mentioned(text, c)
    )
    return None if again else at


def denied_in_any_words(text: str, extraction: Extraction, end: int) -> bool:
    """Whether a sentence behind the answer, in a language without a pack, denies its value or what
    is above.
    """
    assert extraction.span is not None
    first = extraction.span[1]
    own = _own(extraction)
    for start, stop in _parts(text, first, min(end, first + _FAR)):
        sentence = text[start:stop]
        named = [v for v in _named(sentence) if not _letters_alone.fullmatch(v.text)]
        if not named and len(sentence) < _REMARK and rejects_uncovered(sentence):
            return True
        denials = denials_uncovered(sentence) if named else []
        if any(_plain(_nearest(named, at).text) & own for at in denials):
            return True
    return False


_letters_alone = re.compile(r"[^\W\d_]{3,}")  # a word of a script that is not known


def _nearest(named: list[Claim], at: int) -> Claim:
    """The value that a word at ``at`` is next to; of two as near, the one behind the word."""
    return min(
        named, key=lambda value: value.start - at if value.start > at else at - value.end + 2
    )


def _parts(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The sentences, and within them what semicolons part, that are not questions."""
    for start, stop in sentences(text, first, last):
        if text[stop : stop + 1] in ("?", "？", "؟"):
            continue
        at = start
        for mark in re.finditer("[;；؛]", text[start:stop]):
            yield at, start + mark.start()
            at = start + mark.end()
        yield at, stop


def _named(sentence: str) -> list[Claim]:
    """The values of a sentence; and its options, where it has none."""
    return values(sentence) or [
        Claim(m[1], m.start(1), m.end(1), "statement") for m in _letters().finditer(sentence)
    ]


_letters = pattern(r"(?<![\w'’])\(?([A-J])\)?(?![\w'’])", 0)


def _denies(sentence: str, value: Claim, own: frozenset[str]) -> bool:
    if not _plain(value.text) & own:
        return False
    before = sentence[: value.start]
    after = sentence[value.end :]
    lead = before.rstrip(' \t$\\([{*_"“«「')
    if before.count('"') % 2 or "“" in before:
        return False
    if _wrong_before().search(lead):
        return True
    if _wrong_that().search(lead) and "if" not in lead.lower().split():
        return True
    if _elsewhere().search(lead):
        return False
    if _not_before().search(lead) and _over().match(after):
        return True
    if wording.refused().search(lead):
        return False
    return _denied_after().match(after) is not None


def _own(extraction: Extraction) -> frozenset[str]:
    """The spellings of the values that an answer consists of, where it is one value."""
    own: frozenset[str] = frozenset()
    for answer in extraction.answers:
        own |= _plain(answer)
        stated = values(answer) if " " in answer else []
        if len({v.text for v in stated}) == 1:
            own |= _plain(stated[0].text)
    return own


def _plain(text: str) -> frozenset[str]:
    """A value without markup, whole and without the name before "="."""
    if len(text) > 200:
        return frozenset()
    bare = _MARKUP.sub("", _FRACTION.sub(r"\1/\2", text)) if not text.isalnum() else text
    if "." in text and re.fullmatch(r"[-−+$€£]?\d[\d,]*\.\d+", text.strip("$ ")):
        bare = text.strip("$ ").replace(",", "").rstrip("0").rstrip(".")
    forms = {bare, bare.rpartition("=")[2], re.sub(r"(?<=\d)[^\W\d_]+\Z", "", bare).rstrip("%")}
    return frozenset(form for form in forms if form)
