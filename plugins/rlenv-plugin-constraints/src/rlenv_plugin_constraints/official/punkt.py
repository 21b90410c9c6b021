"""Sentences as NLTK's English Punkt model parts them, and words as its Treebank tokenizer does.

Nothing is downloaded.

After Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary Detection" (2006), and the Penn
Treebank's tokenization.  The model's list of abbreviations and of sentence starters is whole; of
its orthographic statistics only common words are known, so that an abbreviation before a rare
capitalized word may differ.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rlenv_plugin_constraints.lists import words
from rlenv_plugin_constraints.vocabulary import STOP_STEMS

__all__ = ["sentences", "tokens"]

_ABBREVIATIONS = words("punkt_abbreviations")
_STARTERS = words("punkt_starters")
_MID_UPPER = words("punkt_mid_upper")
# Where a sentence may end: a mark before a closing mark, or before white space and a word.
_CANDIDATE = re.compile(r"\S*[.?!](?=(?P<after>[?!)\";}\]*:@'({\[])|\s+(?P<next>\S+))")
_CLOSING = re.compile(r"[\"')\]}]+(?=\s|$)")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")
_ELLIPSIS = re.compile(r"\.\.+$")
_NON_WORD = frozenset("?!)\";}]*:@'({[")


def sentences(text: str) -> list[str]:
    """The sentences, without the white space around them."""
    found = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        end = match.end()
        token = match.group()
        if not _breaks(token, match.group("next") or match.group("after")):
            continue
        found.append((start, end))
        start = end if match.group("next") is None else match.start("next")
    found.append((start, len(text.rstrip())))
    return [text[a:b] for a, b in _closed(text, found) if text[a:b]]


def _closed(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Closing marks that begin a sentence belong to the one before."""
    whole: list[tuple[int, int]] = []
    begin = spans[0][0]
    for place, (_, end) in enumerate(spans):
        stop = end
        after = spans[place + 1][0] if place + 1 < len(spans) else end
        closing = _CLOSING.match(text, after) if place + 1 < len(spans) else None
        if closing is not None:
            stop = closing.end()
            after = stop + len(text[stop:]) - len(text[stop:].lstrip())
        if begin < stop:
            whole.append((begin, stop))
        begin = after
    return whole


def _breaks(token: str, follow: str) -> bool:
    if "?" in token or "!" in token:
        return True
    return _stops(_last_part(token), _first_part(follow))


def _last_part(token: str) -> str:
    """Of what stands without a space, what Punkt takes for the token that ends."""
    cut = re.split(r"[?!)\";}\]*:@'({\[]|,(?=[^\d])|--+|\.{2,}(?=[^.])", token)[-1]
    return cut or token[-1]


def _first_part(token: str) -> str:
    found = re.match(
        r"\.{2,}|--+|(?:\. ?){2,}\.|[(\"`{\[:;&#*@)}\]'?!,]|[^\s()\"{}\[\]:;&#*@?!,]+", token
    )
    return found.group() if found else token[:1]


def _stops(token: str, follow: str) -> bool:
    kind = token.lower().rstrip(".") if not _ELLIPSIS.search(token) else "..."
    number = bool(_NUMBER.match(token))
    initial = bool(_INITIAL.match(token))
    ellipsis = bool(_ELLIPSIS.search(token))
    short = kind in _ABBREVIATIONS or kind.rsplit("-", 1)[-1] in _ABBREVIATIONS
    starts = _starts_sentence(follow)
    upper = follow[:1].isupper()
    name = follow.lower().rstrip(".")
    if (short or ellipsis) and not initial:
        return starts is True or (upper and name in _STARTERS)
    if initial or number:
        if starts is False or (starts is None and initial and upper and not _known_small(name)):
            return False
        return not (short and starts is not True)
    return True


def _starts_sentence(follow: str) -> bool | None:
    """Whether a word begins a sentence by its case; None where that cannot be told."""
    if follow[:1] in ";:,.!?":
        return False
    name = follow.lower().rstrip(".")
    if follow[:1].isupper() and _known_small(name) and name not in _MID_UPPER:
        return True
    return False if follow[:1].islower() else None


def _known_small(name: str) -> bool:
    return name in STOP_STEMS


_TOKEN = re.compile(
    r"\.{2,}|--|[;@#$%&?!*()\[\]{}<>\u2012-\u2015«»“”‘’„]|`+|''|\"|[,:](?!\d)"
    r"|(?:[^\s;@#$%&?!*()\[\]{}<>\u2012-\u2015«»“”‘’„`\",:.'-]|[,:](?=\d)|\.(?!\.)|'(?!')|-(?!-))+"
)
_CLITIC = re.compile(r"(?<=[^' ])('[smdSMD]|'ll|'LL|'re|'RE|'ve|'VE|n't|N'T|')$")
_PAIRS = {
    "cannot": 3, "gonna": 3, "wanna": 3, "gimme": 3, "lemme": 3, "gotta": 3, "d'ye": 1, "more'n": 4,
    "'tis": 2, "'twas": 2,
}  # fmt: skip


@lru_cache(maxsize=64)
def tokens(text: str) -> tuple[str, ...]:
    """Words and marks, sentence by sentence."""
    return tuple(token for sentence in sentences(text) for token in _words(sentence))


def _words(sentence: str) -> list[str]:
    end = len(sentence.rstrip().rstrip("])}>\"'»”’ "))
    stop = end - 1 if sentence[:end].endswith(".") and not sentence[:end].endswith("..") else -1
    made: list[str] = []
    for found in _TOKEN.finditer(sentence):
        token = found.group()
        at = found.start()
        if token == '"':  # noqa: S105
            opens = at == 0 or sentence[at - 1] in " ([{<"
            made.append("``" if opens else "''")
        elif stop >= 0 and at <= stop < found.end() and len(token) > 1:
            made += [*_parted(token[: stop - at]), ".", *_parted(token[stop - at + 1 :])]
        else:
            made += _parted(token)
    return made


def _parted(word: str) -> list[str]:
    """A word and its clitics: "don't" is "do" and "n't"."""
    if len(word) < 2:
        return [word] if word else []
    if word.lower() in _PAIRS:
        cut = _PAIRS[word.lower()]
        return [word[:cut], word[cut:]]
    if (
        word[0] == "'"
        and word[1].isalnum()
        and word[1:].lower() not in ("s", "m", "d", "t", "n", "ll", "re", "ve")
    ):
        return ["'", *_parted(word[1:])]
    clitic = _CLITIC.search(word)
    if clitic is not None:
        return [*_parted(word[: clitic.start()]), clitic.group()]
    return [word]
