"""Text to text: Unicode, invisible characters, dollar signs and wrappers, the same for gold and
response.
"""

from __future__ import annotations

import re
import unicodedata

from .limits import LENGTH, Unparsed

_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"
_SUB = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₖₓₐₑₘ"
_FROM_SUPER = str.maketrans(_SUPER, "0123456789+-=()ni")
_FROM_SUB = str.maketrans(_SUB, "0123456789+-=()nkxaem")
# patterns that few texts need are compiled by the first of them
_RUNS = f"([{_SUPER}]+)|([{_SUB}]+)"

_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma sigma tau upsilon phi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega phi epsilon theta mu
"""
_GREEK = dict(zip("αβγδεζηθικλμνξρςστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵϑµ", _GREEK_NAMES.split(), strict=True))
_COMMANDS = {
    "π": "pi", "∞": "infty", "√": "surd", "∛": "cuberoot", "∜": "fourthroot", "≤": "le", "≦": "le",
    "⩽": "le", "≥": "ge", "≧": "ge", "⩾": "ge", "≠": "ne", "≈": "approx", "≡": "equiv", "≅": "cong",
    "∼": "sim", "∝": "propto", "∈": "in", "∉": "notin", "∋": "ni", "⊂": "subset", "⊆": "subseteq",
    "⊃": "supset", "⊇": "supseteq", "∪": "cup", "∩": "cap", "∖": "setminus", "∅": "emptyset",
    "∧": "land", "∨": "lor", "¬": "neg", "⇒": "implies", "⟹": "implies", "⇔": "iff", "⟺": "iff",
    "→": "to", "⟶": "to", "×": "times", "·": "cdot", "⋅": "cdot", "•": "cdot", "∙": "cdot",
    "∗": "ast", "÷": "div", "±": "pm", "∓": "mp", "⟨": "langle", "⟩": "rangle", "〈": "langle",
    "〉": "rangle", "⌊": "lfloor", "⌋": "rfloor", "⌈": "lceil", "⌉": "rceil", "∑": "sum",
    "∏": "prod", "∫": "int", "ℝ": "mathbb{R}", "ℤ": "mathbb{Z}", "ℚ": "mathbb{Q}", "ℕ": "mathbb{N}",
    "ℂ": "mathbb{C}", "∣": "mid", "∥": "parallel", "⊥": "perp", "∠": "angle", "△": "triangle",
    "∘": "circ", "°": "degree", "º": "degree", "˚": "degree", "ℓ": "ell", "∂": "partial",
}  # fmt: skip
_TEXTS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "⁄": "/", "∕": "/",
    "…": "...", "⋯": "...", "′": "'", "″": "''", "’": "'", "‘": "'", "“": '"', "”": '"',
    "℃": "\\degree C", "℉": "\\degree F", "、": ",", "。": ".", "∶": ":", "‖": "\\|", "↦": "\\to ",
    "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}", "⅕": r"\frac{1}{5}", "⅖": r"\frac{2}{5}", "⅗": r"\frac{3}{5}",
    "⅘": r"\frac{4}{5}", "⅙": r"\frac{1}{6}", "⅚": r"\frac{5}{6}", "⅐": r"\frac{1}{7}",
    "⅛": r"\frac{1}{8}", "⅜": r"\frac{3}{8}", "⅝": r"\frac{5}{8}", "⅞": r"\frac{7}{8}",
    "⅑": r"\frac{1}{9}", "⅒": r"\frac{1}{10}", "\u00a0": " ", "\u2009": "\\,", "\u202f": "\\,",
    "\u2007": "\\,", "\u2008": "\\,", "\u200a": "\\,", "٫": ".", "٬": "{,}", "٪": "%",
    "‰": " permille", "؉": " permille", "¢": " cents", "＄": "\\$", "﹩": "\\$",
}  # fmt: skip
_GONE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\ufe0e\ufe0f\u061c"
_TABLE: dict[int, str] = {ord(c): f"\\{n} " for c, n in (_GREEK | _COMMANDS).items()}
_TABLE |= {ord(c): text for c, text in _TEXTS.items()}
_TABLE |= dict.fromkeys([*map(ord, _GONE), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "")

_PAIRS = (
    ("$$", "$$"), ("$", "$"), ("\\[", "\\]"), ("\\(", "\\)"), ("**", "**"), ("__", "__"),
    ("`", "`"), ('"', '"'), ("*", "*"), ("``", "''"),
)  # fmt: skip
_OPENERS = frozenset(opening[0] for opening, _ in _PAIRS)
_BOXES = ("\\boxed{", "\\fbox{", "\\displaystyle{")
_DOLLAR = r"(?s)\\.|\$+"
_TRAILING = frozenset(".,;:")
_KEPT = ("..", "\\right.")


def normalize(text: str) -> str:
    """The text with one spelling for every character, without wrappers and trailing punctuation.

    Raises ``Unparsed`` when it is longer than the limit.
    """
    if len(text) > 4 * LENGTH:
        raise Unparsed("too long", LENGTH)
    if not text.isascii():
        if len(text) > LENGTH:
            raise Unparsed("too long", LENGTH)  # NFKC makes up to 18 characters of one
        text = _ascii(text)
    printable = text.isprintable()
    if not printable or (("{" in text or "\\" in text) and any(map(text.__contains__, _TELLTALES))):
        text = _healed(text, printable=printable)
    text = unwrap(" ".join(text.split()))
    if len(text) > LENGTH:
        raise Unparsed("too long", LENGTH)
    return _dollars(text) if "$" in text else text


# a command whose backslash and first letter became one control character on the way through JSON
_TELLTALES = ("{, }", "\\\\", "\\prime", "{:}", ",\\! ", "quad", "{.}", "rac{", "inom{", "qrt{")
_LOST = (
    ("\f", "\\f", "rac|orall"), ("\b", "\\b", "oxed|egin|inom|ar|eta|mod|ot"),
    ("\v", "\\v", "ec|ee|ert|arnothing|arphi"), ("\a", "\\a", "lpha|pprox|ngle|rc"),
    ("\t", "\\t", "imes|ext|frac|an|heta|o(?![a-z])|au|riangle|binom"),
    ("\r", "\\r", "ight|ho|angle|floor|ceil"), ("\n", "\\n", "eq|e(?![a-z])|u(?![a-z])|abla|ot"),
)  # fmt: skip
_CONTROLS = "|".join(f"{char}(?={tails})" for char, _, tails in _LOST)
_COMMAND_OF = {char: command for char, command, _ in _LOST}
_BARE = r"(?<![\\A-Za-z])([dt]?frac|sqrt|d?binom)\{"  # the backslash is missing
_PRIMES = r"\^ ?(?:\{ ?(?:\\prime ?)+\}|\\prime(?![a-zA-Z]))"
_BACKSLASHES = r"\\+"
_DOUBLED = r"(?<!\\)\\\\((?:[dtc]?frac|sqrt|d?binom|times|cdot|pi|infty|left|right|text|pm|le|ge|log|ln|sin|cos|tan)(?![a-zA-Z]))"
_GLUED = r"(\\q?quad)(?=[a-zA-Z])"  # \quadx


def _healed(text: str, *, printable: bool) -> str:
    """Undoes what escaping did to the text on its way: lost or doubled backslashes, braced
    signs.
    """
    if not printable:
        text = re.sub(_CONTROLS, lambda match: _COMMAND_OF[match.group()], text)
    if "\\\\" in text:
        runs = list(re.finditer(_BACKSLASHES, text))
        doubled = any(text[m.end() : m.end() + 1].isalpha() for m in runs)
        if doubled and all(len(m.group()) % 2 == 0 for m in runs):
            text = re.sub(_BACKSLASHES, lambda match: match.group()[::2], text)
        elif doubled and "\\begin" not in text:
            text = re.sub(_DOUBLED, r"\\\1", text)
    if "quad" in text:
        text = re.sub(_GLUED, r"\1 ", text)
    if "\\prime" in text:
        text = re.sub(_PRIMES, lambda match: "'" * match.group().count("p"), text)
    text = text.replace(",\\! ", ",\\!").replace(" {, }", "{,}")
    return re.sub(_BARE, r"\\\1{", text).replace("{:}", ":").replace("{.}", ".")


def _ascii(text: str) -> str:
    text = re.sub(_RUNS, _script, text).translate(_TABLE)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).translate(_TABLE)
    return text if text.isascii() else "".join(map(_digit, text))


def _script(match: re.Match[str]) -> str:
    above, below = match.groups()
    if above:
        return "^{" + above.translate(_FROM_SUPER) + "}"
    return "_{" + below.translate(_FROM_SUB) + "}"


def _digit(char: str) -> str:
    value = unicodedata.decimal(char, None)
    if value is None:  # a vowel sign of Hindi would part a word
        return "" if unicodedata.category(char) in ("Mn", "Mc") else char
    return str(value)


def unwrap(text: str) -> str:
    """Without what is around the answer: math delimiters, a box, Markdown marks, a final period."""
    for _ in range(12):
        inner = _unwrap_once(text.strip())
        if inner == text:
            break
        text = inner
    return text


def _unwrap_once(text: str) -> str:
    if text[-1:] == "\\":  # a space or a line break that was cut off
        return text[:-1]
    if text[-1:] in _TRAILING and text[-2:-1] != "\\" and not text.endswith(_KEPT):
        return text[:-1]
    if text[:1] not in _OPENERS:
        return text
    for opening, closing in _PAIRS:
        width = len(opening)
        if text.startswith(opening) and text.endswith(closing) and len(text) > 2 * width:
            inner = text[width : -len(closing)]
            if opening not in inner and inner[-1:] != "\\" and (opening != "$" or "$" not in inner):
                return inner
    for opening in _BOXES:
        if text.startswith(opening) and text.endswith("}") and _closes_last(text, len(opening)):
            return text[len(opening) : -1]
    return text


def _closes_last(text: str, start: int) -> bool:
    """Whether the brace that is open at ``start`` is closed by the last character."""
    depth = 1
    at = start
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at == len(text) - 1
        at += 1
    return False


def _dollars(text: str) -> str:
    """Math delimiters become spaces; a dollar sign that is money becomes ``\\$``."""
    signs = [m for m in re.finditer(_DOLLAR, text) if m.group()[0] == "$"]
    if not signs:
        return text
    money = [_before_number(text, m.end()) for m in signs]
    delimiters = len(signs) % 2 == 0 and not all(money)
    pieces: list[str] = []
    end = 0
    for sign, is_money in zip(signs, money, strict=True):
        pieces.append(text[end : sign.start()])
        end = sign.end()
        after_number = text[: sign.start()].rstrip()[-1:].isdigit() if len(signs) == 1 else False
        is_currency = not delimiters and len(sign.group()) == 1 and (is_money or after_number)
        pieces.append("\\$" if is_currency else " ")
    pieces.append(text[end:])
    return "".join(pieces).strip()


def _before_number(text: str, at: int) -> bool:
    rest = text[at : at + 3].lstrip(" -")
    return rest[:1].isdigit() or rest[:1] == "."


_MARKS = (
    r"\\(?:text|mathrm|textbf|mathbf|textit|mbox|operatorname|textrm)\s*\{|[{}$*_`~\"]|\\[,;:! ]"
)


_DETERMINERS = frozenset(("a", "an", "the", "on"))


def plain(text: str) -> str:
    """Case-folded words with single spaces, without markup and punctuation at the ends."""
    words = re.sub(_MARKS, " ", text).replace("\\", "").casefold()
    words = " ".join(words.split()).strip(" .,;:!?'")
    head, _, rest = words.partition(" ")
    return rest if rest and head in _DETERMINERS else words
