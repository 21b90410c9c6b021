"""Text to tokens, in one pass.

Fonts, spacing and ``\\left``/``\\right`` are gone afterwards; what they say that matters stays with
the tokens: ``gaps`` (0 glued, 1 a space, 2 a thin space before the token) and ``upright`` (set in
text or roman, so that a letter behind a number is a unit).
"""

from __future__ import annotations

import re
from functools import lru_cache

from .limits import TOKENS, Unparsed, words_of
from .symbols import (
    COMMAND_FUNCTIONS,
    CONSTANTS,
    CURRENCY,
    DELIMITERS,
    DROPPED,
    FONTS,
    FONTS_UPRIGHT,
    FUNCTIONS,
    GREEK,
    KEYWORDS,
    LETTERS,
    NEGATED,
    SIGNS,
    SWALLOW,
)
from .words import is_product

_LOOKAHEAD = 6
_ENDS = ("end",) * _LOOKAHEAD
_BLANKS = ("",) * _LOOKAHEAD
_ZEROS = (0,) * (_LOOKAHEAD - 1)
_ALONE = frozenset(" ()[],_/'|&%;")  # signs that are a token whatever follows
_SETTLED = frozenset(("num", "one", "word"))
_SHORT: dict[str, tuple[str, str]] = {}  # by two signs, of which the first is a token: see `_learn`
_UPRIGHT = frozenset(FONTS_UPRIGHT.split())
_BOLD = "mathbf|boldsymbol|bm|pmb|vec|hat|widehat|overrightarrow"
_TOKEN = re.compile(
    r"(?P<num>0[xX][0-9a-fA-F]+|0[bB][01]+|0o[0-7]+|\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+(?![\w.]))?|\.\d+)"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<thin>\\[,;:>]|\\ |~)"
    r"|(?P<space> |\\[()\[\]])"
    rf"|(?P<basis>(?:\\(?:{_BOLD}) ?\{{? ?){{1,2}}\\?[ijk](?:math)?(?![A-Za-z]))"
    rf"|(?P<font>\\(?:{'|'.join((FONTS_UPRIGHT + ' ' + FONTS).split())})\*? ?\{{)"
    r"|(?P<deg>\^ ?\{? ?\\(?:circ|degree)(?![A-Za-z]))"
    r"|(?P<side>\\(?:left|right)(?![A-Za-z]) ?(?:\\[A-Za-z]+|\\?.))"
    r"|\\(?P<cmd>[A-Za-z]+)"
    r"|(?P<multi>\\[{}|%$#&_!\\]|\*\*|<=>|<=|>=|!=|<>|==>?|=>|=<|->|:=|\.\.+|\{ ?, ?\}|\+/?-|-\+)"
    r"|(?P<one>.)",
    re.DOTALL,
).match

_MULTI: dict[str, tuple[str, str]] = {
    "**": ("^", "^"), "<=": ("rel", "<="), ">=": ("rel", ">="), "=<": ("rel", "<="),
    "!=": ("rel", "!="), "<>": ("rel", "!="), "==": ("rel", "="), "==>": ("implies", ""),
    "=>": ("implies", ""), "<=>": ("implies", ""), "->": ("implies", "to"), ":=": ("rel", "="),
    "{,}": ("{,}", ","), "+-": ("pm", "1"), "+/-": ("pm", "1"), "-+": ("pm", "-1"),
    "\\|": ("norm", ""), "\\%": ("%", "%"), "\\$": ("cur", "$"), "\\&": ("and", "and"),
    "\\\\": ("row", ""), "\\{": ("\\{", "{"), "\\}": ("\\}", "}"),
}  # fmt: skip
_ONE: dict[str, tuple[str, str]] = {"<": ("rel", "<"), ">": ("rel", ">"), "=": ("rel", "=")} | {
    sign: ("cur", name) for sign, name in CURRENCY.items()
}


class Tokens:
    """Parallel lists; the last tokens have the kind ``end``, so that rules may look ahead."""

    __slots__ = ("ats", "braces", "gap", "gaps", "kinds", "roman", "source", "texts", "upright")

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.gaps: list[int] = []
        self.ats: list[int] = []
        self.upright: list[bool] = []
        self.braces: list[int] = []  # open braces: 0 a group, 1 a font, 2 an upright font
        self.roman = 0
        self.gap = 0

    def put(self, kind: str, text: str, at: int) -> None:
        self.kinds.append(kind)
        self.texts.append(text)
        self.gaps.append(self.gap)
        self.ats.append(at)
        self.upright.append(self.roman > 0)
        self.gap = 0


def lex(text: str) -> Tokens:
    """The tokens of a normalized text; raises ``Unparsed`` when there are too many."""
    out = Tokens(text)
    at = 0
    end = len(text)
    put = out.put
    while at < end:
        char = text[at]
        if char in _ALONE:
            if char == " ":
                out.gap = out.gap or 1
            else:
                put(char, char, at)
            at += 1
            continue
        known = _SHORT.get(text[at : at + 2])
        if known is not None:
            put(*known, at)
            at += 1
            continue
        match = _TOKEN(text, at)
        assert match is not None  # the last alternative takes any character
        group = match.lastgroup
        piece = match.group(group)  # type: ignore[arg-type]
        if group == "num":
            put("num", piece, at)
        elif group == "one":
            _one(out, piece, at)
        elif group == "word":
            _word(out, piece, at)
        elif group == "space":
            out.gap = out.gap or 1
        elif group == "thin":
            out.gap = 2
        else:
            at = _OTHER[group](out, piece, at, match.end())  # type: ignore[index]
            continue
        at = match.end()
        if len(piece) == 1:
            _learn(out, text[at - 1 : at + 1], group)
    if len(out.kinds) > TOKENS:
        raise Unparsed("too many signs", out.ats[TOKENS])
    _finish(out, end)
    return out


def _learn(out: Tokens, pair: str, group: str | None) -> None:
    """Keep what a sign is before another, where no third one has a say."""
    char = pair[0]
    after = pair[1:]
    settled = after.isalnum() if group == "one" else not (after.isalnum() or after == ".")
    if settled and group in _SETTLED and char not in "{}" and pair.isascii():
        _SHORT[pair] = out.kinds[-1], out.texts[-1]


def _finish(out: Tokens, end: int) -> None:
    out.kinds += _ENDS
    out.texts += _BLANKS
    out.gaps += (out.gap, *_ZEROS)
    out.ats += (end,) * _LOOKAHEAD
    out.upright += (out.roman > 0,) * _LOOKAHEAD


def _one(out: Tokens, piece: str, at: int) -> None:
    if piece == "{":
        out.braces.append(0)
    elif piece == "}" and out.braces and (closed := out.braces.pop()):
        out.roman -= closed == 2
        return
    kind, text = _ONE.get(piece, (piece, piece))
    out.put(kind, text, at)


def _word(out: Tokens, piece: str, at: int) -> None:
    if len(piece) == 1 and piece < "\u3040":  # a Chinese character is a word
        name = CONSTANTS.get(piece)
        out.put("const" if name else "letter", name or piece, at)
        return
    scripted = len(piece) < 4 and out.source[at + len(piece) : at + len(piece) + 1] in ("^", "_")
    for kind, text in classify(piece, out.roman > 0, scripted):
        if kind == "mod" and out.kinds and out.kinds[-1] == "(":
            out.kinds[-1] = "mod"
            out.texts[-1] = "("
        else:
            out.put(kind, text, at)


def _multi(out: Tokens, piece: str, at: int, end: int) -> int:
    if piece == "\\!":
        return end
    if piece in ("\\#", "\\_"):
        out.gap = out.gap or 1
        return end
    if piece.startswith(".."):
        out.put("...", "...", at)
    else:
        kind, text = _MULTI[piece.replace(" ", "")]
        out.put(kind, text, at)
    return end


def _basis(out: Tokens, piece: str, at: int, end: int) -> int:
    out.put("basis", piece[-1] if not piece.endswith("math") else piece[-5], at)
    return _skip_closing(out.source, end, piece.count("{"))


def _deg(out: Tokens, piece: str, at: int, end: int) -> int:
    out.put("deg", "deg", at)
    if "{" in piece and out.source[end : end + 2].lstrip()[:1] != "}":
        out.braces.append(1)  # ^{\\circ C}: the closing brace comes later and says nothing
        return end
    return _skip_closing(out.source, end, piece.count("{"))


def _skip_closing(source: str, at: int, count: int) -> int:
    while count and source[at : at + 1] in ("}", " "):
        count -= source[at] == "}"
        at += 1
    return at


def _font(out: Tokens, piece: str, at: int, end: int) -> int:  # noqa: ARG001 - one signature for all
    name = piece.strip("\\{ *")
    roman = name in _UPRIGHT
    out.braces.append(2 if roman else 1)
    out.roman += roman
    return end


def _side(out: Tokens, piece: str, at: int, end: int) -> int:
    left = piece.startswith("\\left")
    name = piece[5 if left else 6 :].strip() or "."
    if name in DELIMITERS:
        kind = DELIMITERS[name][0 if left else 1]
        if kind:
            out.put(kind, name, at)
        return end
    return end - len(name)  # an ordinary bracket is read again as itself


def _command(out: Tokens, name: str, at: int, end: int) -> int:
    if name in SIGNS:
        kind, text = SIGNS[name]
        if kind == "mod" and out.kinds and out.kinds[-1] == "(":
            out.kinds[-1] = "mod"
            out.texts[-1] = "("
        else:
            out.put(kind, text, at)
    elif name in CONSTANTS:
        out.put("const", CONSTANTS[name], at)
    elif name in LETTERS:
        out.put("letter", LETTERS[name], at)
    elif name in COMMAND_FUNCTIONS:
        out.put("fn", COMMAND_FUNCTIONS[name], at)
    elif name in DROPPED:
        out.gap = out.gap or 1
    elif name in SWALLOW:
        return _after_group(out.source, end)
    elif name == "not":
        return _not(out, at, end)
    else:
        out.put("cmd", name, at)
    return end


def _not(out: Tokens, at: int, end: int) -> int:
    match = _TOKEN(out.source, end)
    piece = match.group() if match else ""
    sign = SIGNS.get(piece[1:]) if piece.startswith("\\") else _ONE.get(piece)
    if match is None or sign is None or sign[0] != "rel":
        return end
    out.put("rel", NEGATED.get(sign[1], "not " + sign[1]), at)
    return match.end()


def _after_group(source: str, at: int) -> int:
    """Behind the braced group that starts at ``at`` (or at once, when none does)."""
    if source[at : at + 1] == " ":
        at += 1
    if source[at : at + 1] != "{":
        return at
    depth = 0
    for end in range(at, len(source)):
        depth += (source[end] == "{") - (source[end] == "}")
        if depth == 0:
            return end + 1
    return len(source)


_OTHER = {
    "multi": _multi, "basis": _basis, "deg": _deg, "font": _font, "side": _side, "cmd": _command,
}  # fmt: skip

_PI_BEFORE = words_of("r R x h n i k t rh rl l")
_ARGUMENTS = words_of("x y z t a b n A B C")
_WORDS_LIKE_CALLS = words_of("cost sina sint tana tant tanx_ sect loga")


@lru_cache(2048)
def classify(word: str, roman: bool, scripted: bool) -> tuple[tuple[str, str], ...]:  # noqa: FBT001 - a cache key
    """What a run of letters is: a keyword, function, constant, Greek letter, product, unit or
    word.
    """
    if word in FUNCTIONS:
        return ((("fn", FUNCTIONS[word])) if word not in ("min", "sec", "deg") else ("word", word),)
    low = word.lower()
    if low in KEYWORDS:
        return (KEYWORDS[low],)
    if word in CONSTANTS:
        return (("const", CONSTANTS[word]),)
    if word in GREEK:
        return (("letter", GREEK[word]),)
    if word in ("nCr", "nPr", "st", "nd", "rd", "th"):
        return (("word", word),)
    pieces = _pieces(word)
    if pieces:
        return pieces
    if roman and not (word.isupper() and len(word) < 4):
        return (("word", word),)
    if _unit(word) or not (scripted or is_product(word)):
        return (("word", word),)
    return tuple(map(_letter, word))


def _letter(char: str) -> tuple[str, str]:
    name = CONSTANTS.get(char)
    return ("const", name) if name else ("letter", char)


def _unit(word: str) -> bool:
    from .units import lookup

    return lookup(word) is not None


def _pieces(word: str) -> tuple[tuple[str, str], ...] | None:
    """``sinx``, ``xsin``, ``2pir``: a function or pi glued to letters."""
    for width in (6, 4, 3, 2):
        name = word[:width]
        if name in FUNCTIONS and word[width:] in _ARGUMENTS and word not in _WORDS_LIKE_CALLS:
            return ("fn", FUNCTIONS[name]), _letter(word[width:])
        name = word[-width:]
        if width > 2 and name in FUNCTIONS and len(word) == width + 1 and word[0] in "xyztabnkeir":
            if word in ("xmin", "tabs") or name in ("min", "sec", "abs"):
                return None
            return _letter(word[0]), ("fn", FUNCTIONS[name])
    if word[:2] == "pi" and word[2:] in _PI_BEFORE:
        return (("const", "pi"), *map(_letter, word[2:]))
    if word[-2:] == "pi" and len(word) == 3 and word[0] in "xyzrnkiabt":
        return _letter(word[0]), ("const", "pi")
    return None
