"""Whether prose asserts the value that it names, as the policy's own answer, in the present tense.

The words around a value must belong to the affirmative grammar: what is between the noun that
announces and the value, the main clause that a "that" depends on, the predicate of a value that is
the subject, and a clause behind that refers to the value. An unknown word there withdraws the
claim. A slot (a box, ``####``, a tag) is no prose.
"""

from __future__ import annotations

import re
from functools import cache

from rlenv_plugin_math.languages import words_listed

from .patterns import pattern

_LEAD = 240  # characters before a value that are read
_TAIL = 160  # and behind it
_MARKS = ' \t$\\([{*_"“«「`'

_ended = pattern(r"[.!?][\"')*_]*\s|[\n。！？।۔]", 0)
_turned = pattern(r"\b(?:but|however|yet|so|therefore|thus|hence|then|actually)\b|[;；؛]")
_parted = pattern(r"[,，、:：;；؛—–(（。]|\s-\s", 0)
_word = re.compile(
    r"(?:[^\W\d_]|[\u0900-\u0dff])+(?:['’][^\W\d_]+)?"
)  # `re` takes vowel signs for no letters
_announced = pattern(r"\b(?:answer|solution|result)s?\b")
_owned = pattern(r"\b(?:the|our)\s+(?:(?:final|correct|right|only|best|true|exact)\s+)*\Z")
_copula = pattern(
    r"\b(?:is|are|was|were|equals?|be|becomes?|remains?|seems?|appears?|looks?)\b|[=:：]"
)
_denying = pattern(r"\b(?:not|never|cannot|no|nor|neither)\b|n['’]t\b")
_unreal = pattern(r"\b(?:had|were)\b|\bif\s+only\b")
_opened_unreal = pattern(
    r"\A\W*(?:had|were|should|would\s+be|suppos\w+|imagin\w+|pretend\w*)\b(?!\s+[^,]*\?)"
)
_conditional = pattern(r"\bwould(?:\s+\w+)?\s+(?:be|have|equal)\b")
_holds_that = pattern(r"(?:\A|\W)(?:that|<<that>>)(?=\W|\Z)")

_other_frame = pattern(
    r"\b(?:<<frames>>)\b|\baccording\s+to\s+(?!(?:the|our|this|these)\b)|(?:(?<=\s)|\A|\b)(?:<<sources>>)(?![^,;:]{0,30}(?:<<evidence>>))|\b(?:<<reporters>>)\s+(?:would|might|could)\b[^,;:]*\Z"
)
_set_right = pattern(r"\bshould\s+(?:be|have\s+been)\b")
_displayed = re.compile(r"[}$]|\\\]")
_nonassertive = pattern(r"\b(?:<<nonassertive>>)\b")
_told = pattern(
    r"\b(?<!i )(?<!we )(?<!can )(?<!let us )(?<!let's"
    r" )(?:<<says>>|<<reports>>)\b(?:\s+(?:that|it|it['’]s|is|was|me|us|him|her|them|to|be|out|up|of|for|with|the|an?|answers?|number|value|option))*\s*[,:]?\s*\Z"
)
_would_say = pattern(
    r"\b(?<!i )(?<!we"
    r" )(?:would|might|could)\s+(?:\w+\s+)?(?!be\b|have\b|need\b|equal\b|give\b)[a-z]+\s*\Z"
)

_irrealis = pattern(
    r"\b(?:had|were|weren['’]t|hadn['’]t)\b(?=[^;]*,)|\A\W*(?:had|were)\b|\bin\s+an?\s+(?:\w+\s+)?(?:world|universe|variant|version)\b|(?<!\w)(?:<<irrealis>>)(?!\w)"
)
_moody = pattern(r"\b(?:would|could|might|if\s+it\s+were)\b|(?<!\w)(?:<<moods>>)(?!\w)")
_people = pattern(r"\bsome\s+people\b[^.!?\d]*\Z")
_sourced = pattern(
    r"\b(?:<<reporters>>|they|everybody)\b[^,;:.]{0,40}\b(?:comput|calculat|pick|cho+s|select|got|get|gets|obtain|f[io]u?nd|mark|circl|tick|enter|went\s+with|go\s+with|goes\s+with)(?:e|es|ed|s|en|ing)?\s*\Z"
)
_would_be = pattern(r"\bwould\s+be\s*\Z")

_unit = r"[\s$)\]}*\"”]*(?:\\?%|°)?(?:\s*[^\W\d_]+){0,2}?[\s$)\]}*\"”]*"
_was = pattern(
    rf"{_unit}\b(?:(?:would|might|could)\s+have\s+been|used\s+to\s+be|(?:would|might|could)\s+be\b(?=[^.!?\n]*\b(?:if|had|were)\b))"
)
_adverse = pattern(
    rf"{_unit}[,;—–(…."
    r" ]*\s*\b(?:but|yet|though|although|however|except|whereas|even\s+though)\b(?P<rest>[^.!?\n。]*)"
)
_referring = pattern(
    rf"{_unit}[,;—–("
    rf" ]*\s*(?:which|that|this|it|or\s+so|is\s+what|and\s+i\b|and\s+(?:this|that|it)\b|(?-i:an?)\s+(?-i:[a-z]{2}))(?P<rest>[^.!?\n。]*)"
)
_disclaims = pattern(
    r"\b(?:which|that|this|it|i)\b[^.!?]{0,30}(?:\b(?:not|never|cannot)\b|n['’]t\b)\s+(?:\w+\s+)?(?:satisf|work|fit|hold|reproduc|verif|confirm|match|check|make|add|agree|meet|follow|right|correct|true|it\b|the\b|so\b|believ|trust|understand)"
)
_elsewhere = pattern(
    rf"{_unit}[,"
    r" ]*\s*(?:in|for|under|with)\s+(?:the|an?|that|some)\s+(?:other\s+|different\s+)?(?:variant|version|variation|simpler|easier|original|older|hypothetical|opposite|alternative|case\s+(?:where|when|of)\s+[a-z]|second\s+reading)\b"
)
_thought = pattern(r"[\s$)\]}*]*would\s+say\b")
_option = pattern(r"\(?[A-J]\)?", 0)
_next_clause = pattern(r"[,，、;；؛]|\s(?=\(?[A-J]\b)", 0)
_quoted = pattern(
    r"[\s$)\]}*\"”」』]*(?:だ|である|です|이?라고는?|이?라는|다고는?|olduğu\w*|diye|\s|\band\b|\bis\b|は|,)*(?:と|であると)?\s*(?:<<quoting>>)"
)

_predicate = pattern(r"[\s$)\]}*\"”]*(?:is|are|was|were)\s+(?P<rest>[^.!?\n。]*)")
_affirmed = pattern(
    r"(?:(?:<<adverbs>>|also|is|thus|hence|exactly|precisely|only|always|again)\s+)*(?:the|our|my|your|its|their|his|her|how|what\s+(?:we|you|i|is|was|remains)|correct|right|answer|left|needed|required|enough|then|divisible|prime|even|odd|positive|greater|larger|less|smaller|equal|between|sold|used|spent|made|added|given|found|obtained|remaining|possible|in|both|all)\b"
)


def is_unasserted(text: str, start: int, end: int) -> bool:
    """Whether the sentence around ``text[start:end]`` names that value without asserting it."""
    sentence = _ended().split(text[max(0, start - _LEAD) : start])[-1].rstrip(_MARKS)
    after = _ended().split(text[end : end + _TAIL])[0]
    own = _turned().split(sentence)[-1]
    noun = _last(_announced(), own)
    if noun is not None and not _is_assertion(sentence, own, noun):
        return True
    if _has_trigger(sentence) and _is_attributed(sentence, own, noun):
        return True
    if noun and _word.search(sentence[: noun.start()]) and _thought().match(after):
        return True
    if not _word.search(after):
        return False
    is_option = _option().fullmatch(text, start, end) is not None
    return _is_undone_behind(after, is_option=is_option, is_subject=not _word.search(own))


def _has_trigger(sentence: str) -> bool:
    """Whether a sentence has a word without which it is attributed to nobody else; unknown outside
    of ASCII.
    """
    if not sentence.isascii():
        return True
    return not _triggers().isdisjoint(re.findall(r"[a-z]+", sentence.lower()))


@cache
def _triggers() -> frozenset[str]:
    """The words of every list that makes a statement another's, or none."""
    names = "nonassertive frames sources irrealis moods reporters says reports"
    every = " ".join(word for name in names.split() for word in words_listed(name))
    fixed = "according they everybody had were would could might world universe variant version"
    return frozenset(re.findall(r"[a-z]{2,}", every)) - _COMMON | frozenset(fixed.split())


# parts of phrases of the lists whose other words are rare
_COMMON = frozenset(
    [
        "one",
        "of",
        "in",
        "it",
        "to",
        "the",
        "by",
        "is",
        "no",
        "not",
        "up",
        "too",
        "if",
        "so",
        "an",
        "we",
        "be",
        "with",
        "for",
        "was",
        "has",
    ]
)


def _is_attributed(sentence: str, own: str, noun: re.Match[str] | None) -> bool:
    """Whether the words before a value disown it, or give it to others or to what is not so."""
    if _other_frame().search(sentence) or _is_disowned(own, noun) or _people().search(own):
        return True
    if _is_counterfactual(sentence):
        return True
    if noun is not None:
        return False
    marks = (_told(), _sourced(), _would_say())
    return any(mark.search(own) for mark in marks) or _supposes(own)


def _last(found: re.Pattern[str], text: str) -> re.Match[str] | None:
    marks = list(found.finditer(text))
    return marks[-1] if marks else None


def _is_assertion(sentence: str, own: str, noun: re.Match[str]) -> bool:
    """Whether the words around an announcing noun, up to the value behind it, are an affirmative
    statement.
    """
    before = own[: noun.start()]
    between = own[noun.end() :]
    if _opened_unreal().search(sentence) or _unreal().search(between):
        return False
    if not _links(between):
        return False
    clause = _displayed.split(_parted().split(before)[-1])[-1]
    if _conditional().search(between) and not _concludes(before):
        return False
    owned = _owned().search(clause)
    if owned and not _is_affirmative(clause[: owned.start()]):
        return False
    that = _last(_holds_that(), before)
    if that is None or len(_parted().split(before[that.end() :])) > 1:
        return True
    matrix = [part for part in _parted().split(before[: that.start()]) if part.strip()]
    return _is_affirmative(matrix[-1] if matrix else "")


def _is_disowned(own: str, noun: re.Match[str] | None) -> bool:
    """Whether a word that asserts nothing is in the clause of a value, before it."""
    clause = own[own.rfind(",", 0, noun.start()) + 1 :] if noun else own
    found = _last(_nonassertive(), clause)
    return found is not None and _set_right().search(clause, found.end()) is None


def _is_counterfactual(sentence: str) -> bool:
    """Whether a sentence before a value is in the mood of what is not so: "had we counted both, we
    would have 5".
    """
    own = re.split(r"[;；؛]", sentence)[-1]
    return _irrealis().search(own) is not None and _moody().search(own) is not None


def _supposes(own: str) -> bool:
    """Whether a value is what would be under a clause before it: "If it were so, it would be 5"."""
    conditional = _would_be().search(own)
    if conditional is None:
        return False
    clauses = _parted().split(own[: conditional.start()])
    return len(clauses) > 1 and not _concludes(clauses[0])


def _links(between: str) -> bool:
    """Whether only known words are between the verb of an announcement and the value."""
    near = _parted().split(between)[-1]
    if re.search(r"\d", near):  # the value of the announcement is another, before this one
        return True
    if _denying().search(near):
        return False
    copula = _last(_copula(), near)
    if copula is None:
        words = _word.findall(near.lower())
        last = [word for word in words[-2:] if word < "\u0250"]
        return len(words) < 3 or words_listed("linking").issuperset(last)
    words = _word.findall(near[copula.end() :].lower())
    return (
        not words
        or words[0] in words_listed("opening")
        or words_listed("linking").issuperset(words)
    )


def _concludes(before: str) -> bool:
    """Whether no clause that could be a condition is before an announcement in the conditional
    mood.
    """
    words = _word.findall(before.lower())
    return words_listed("affirming").issuperset(words)


def _is_affirmative(matrix: str) -> bool:
    """Whether the words that an announcement depends on say that it is so."""
    words = _word.findall(matrix.lower())
    if _denying().search(matrix):
        return False
    known = words_listed("affirming")
    return not words or words[0] in words_listed("leading") or known.issuperset(words)


def _is_undone_behind(after: str, *, is_option: bool, is_subject: bool) -> bool:
    """Whether what follows a value in its sentence takes it back, or is no predicate of an
    answer.
    """
    if _was().match(after) or _elsewhere().match(after) or _quoted().match(after):
        return True
    adverse = _adverse().match(after)
    if adverse and not re.search(r"\d|\bnot\b\s*\S{1,3}\s*\Z", adverse["rest"]):
        return True
    referring = _referring().match(after)
    if referring and (_nonassertive().search(referring["rest"]) or _disclaims().search(after)):
        return True
    predicate = _predicate().match(after) if is_subject else None
    if predicate is None:
        return False
    if is_option:  # of which anything may be said, as of a statement
        return _nonassertive().search(_next_clause().split(predicate["rest"])[0]) is not None
    return not _is_predicate(predicate["rest"])


def _is_predicate(words: str) -> bool:
    """Whether something is said of a value by which it is the answer: "is the answer", "is how many
    are left".
    """
    if _nonassertive().search(words):
        return False
    first = _word.search(words.lower())
    opened = first is not None and first[0] in words_listed("opening")
    return opened or first is None or _affirmed().match(words) is not None
