"""The wording around a stated value: what refuses it, doubts it, or announces it."""

from __future__ import annotations

import re
from functools import cache


@cache
def clause() -> re.Pattern[str]:
    return re.compile(
        r"(?:,\s*(?:as|so|which|where|who|with)|,?\s*\b(?:since|because|so that|given that|whereas))\b"
        r"|\s[–—]\s|\s-\s(?=[a-z]{2})",
        re.IGNORECASE,
    )


@cache
def joint() -> re.Pattern[str]:
    return re.compile(
        r"[\s,;$]*(?:and|or|&|、|和|or\s+else|as\s+well\s+as)?[\s,;$(]*(?:[a-zA-Z]\s*=\s*)?",
        re.IGNORECASE,
    )


@cache
def doubt() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:or|maybe|perhaps|possibly|might|could|may|alternatively|either|otherwise|unsure|instead|depending|else"
        r"|not\s+sure|also|but|unless|though|although|however)\b|或",
        re.IGNORECASE,
    )


@cache
def refused() -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:not|never|cannot|neither|nor|except|without|unlike)\b|n't\b|n’t\b)[a-z\s]{0,12}$"
        r"|\b(?:anything|everything|nothing|all|any|everyone)\s+but\s*$"
        r"|\b(?:at\s+(?:least|most)|up\s+to|over|above|below|under|beyond|almost|nearly)\s*$"
        r"|\b(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower|other|rather)\s+than\s*$"
        r"|\bout\s+of\s*$|\bbetween\s*$|\binstead\s+of\s*$",
        re.IGNORECASE,
    )


@cache
def denial() -> re.Pattern[str]:
    return re.compile(
        r"[\s$*)]*\b(?:(?:is|are|was|were|does|do|did|can|could|would)(?:n't|n’t|\s+not|\s+never)|cannot|fails)\b"
        r"|[\s$*)]*\bnot\b(?!\s*[\d$-])"
        r"|[\s$*)]*\b(?:is|are)\s+(?:an?\s+)?(?:prime|composite|odd|even|positive|negative|(?:ir)?rational|integer|divisible|wrong"
        r"|incorrect|impossible|excluded|too)\b",
        re.IGNORECASE,
    )


@cache
def condition() -> re.Pattern[str]:
    """Behind a value: words under which alone it holds, or which make it a bound."""
    return re.compile(
        r"(?:[\s$*]+[a-z]+){0,2}[\s$*]+(?:less|more|fewer|greater|larger|smaller)\s+than\b"
        r"|[^.;]*?\b(?:if|unless|provided|assuming|depending|or\s+(?:any|more|less|fewer|greater|above|below|over|another|some|so|else))\b"
        r"|[\s,*$(]*or\s+(?!about\b|approx|equivalent|simply\b|roughly\b|around\b)[a-zA-Z]{2}",
        re.IGNORECASE,
    )


@cache
def doubt_ahead() -> re.Pattern[str]:
    """Behind a dash or a comma: words that take back what stood before it."""
    return re.compile(
        r"[\s,]*(?:no\b|wait|actually|or\b|maybe|perhaps|sorry|rather)", re.IGNORECASE
    )


@cache
def letter() -> re.Pattern[str]:
    return re.compile(
        r"\(([A-J])\)|\b(?:option|choice|letter|answer|choose|select|pick)s?\s+([A-J])\b(?!['’(])"
    )


@cache
def vague() -> re.Pattern[str]:
    return re.compile(r"\d-?ish\b", re.IGNORECASE)


@cache
def magnitude() -> re.Pattern[str]:
    return re.compile(
        r"\s+(?:(?:hundred|thousand|million|billion|trillion|dozen)\b|out\s+of\s+\d+\b(?![.,]\d))",
        re.IGNORECASE,
    )


@cache
def unsettled() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:whether|or so|or thereabouts|if the answer|(?:is|was|are) not(?=[\s).!]*$)|(?:can(?:not|'t|’t)|could(?:n't|n’t| not)|unable to|impossible to)\s+(?:tell|say|decide|know|determine|compute|calculate|find|solve|answer|evaluate|work\s+out"
        r"|be\s+(?:determined|known|decided))|(?:don't|don’t|do not) know)\b",
        re.IGNORECASE,
    )


@cache
def equals() -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:is|are|was|were|be|equals?|get|gets|makes?|has|have|gives?|yields?|obtain|to|of)\b|[=:≈])"
        r"\s*(?:only|exactly|just|equal to|a total of|about|approximately|thus|therefore|then|simply)?\s*[$(*]*\s*$",
        re.IGNORECASE,
    )


@cache
def words() -> re.Pattern[str]:
    """Anything but commands that could be a word."""
    return re.compile(r"(?<![\\\w])[^\W\d_]{2,}|或")


@cache
def other() -> re.Pattern[str]:
    """Right before a value: it is offered beside something else."""
    return re.compile(r"\S\s+or\s*(?:maybe|perhaps|else|even)?[\s$*(]*$", re.IGNORECASE)


@cache
def code() -> re.Pattern[str]:
    """A call or an attribute, which no sentence holds."""
    return re.compile(r"[\w)\]]\.\w+\(|\w\([\"'\[]|__\w|\blambda\b|\bimport\s")


@cache
def verdict() -> re.Pattern[str]:
    """A verdict that opens a sentence: "Yes, because …"."""
    return re.compile(
        r"[\s*]*(yes|no|true|false)[\s*]*(?:[,.;:!–—]|because\b|since\b)(?!.*\b(?:yes|no|true|false)\b)",
        re.IGNORECASE,
    )


@cache
def predicate() -> re.Pattern[str]:
    """What is said of the subject of a sentence."""
    return re.compile(
        r"(?:\A|\s)(?!(?:I|we|you)\s)[a-z]+\s(?:[^.;]*?\s)?(?:is|are|was|has|have|falls|fell|lands|becomes)\s+(?:thus\s+|therefore\s+|on\s+an?\s+)?([^.;]{2,60}?)[\s.!*]*\Z",
        re.IGNORECASE,
    )


@cache
def negated() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:not|never|neither|nor|cannot|impossible|false\s+that|wrong|incorrect)\b|n['’]t\b",
        re.IGNORECASE,
    )


@cache
def option() -> re.Pattern[str]:
    """``C. 1223, Rigord``: a choice and its text."""
    return re.compile(r"\(?([A-J])[.):]\)?\s+(?=[^=]*[a-zA-Z]{2}[^=]*\Z)")


@cache
def behavior() -> re.Pattern[str]:
    """A verb that is the answer: "The series converges"."""
    return re.compile(r"\b((?:con|di)verges|(?:in|de)creases)\b", re.IGNORECASE)


@cache
def bold_subject() -> re.Pattern[str]:
    return re.compile(
        r"\s*\*\*([^*\n]{1,60})\*\*\s+(?:is|was|are|were|wins|won)\s+(?:the|my|our)\b",
        re.IGNORECASE,
    )


@cache
def denied_option() -> re.Pattern[str]:
    """ "(C) is wrong": a choice that is spoken of and not chosen."""
    return re.compile(
        r"(?:(?i:option|choice)\s+)?\(?[A-J]\)?\s+(?:(?:is|was|seems)\s+(?:not|never|wrong|incorrect|false|impossible)|is(?:n['’]t)|cannot|can['’]t)\b"
    )


@cache
def denied_behind() -> re.Pattern[str]:
    """Behind an answer: it is none."""
    return re.compile(
        r"[\s$)\]*\\}]*\s(?:is|was|are)(?:\s+(?:wrong|incorrect|false|(?:not|never)\s+(?:the\s+)?(?:final\s+)?(?:answer|right|correct|it\b))|n['’]t\s+(?:the|right|correct))",
        re.IGNORECASE,
    )
