"""Formulas, amounts and bold text inside prose, found in one pass each."""

from __future__ import annotations

import re

from .found import Claim
from .patterns import pattern

_OPERATORS = frozenset("=<>≤≥≠≈+-−*/^×·÷±∈∪∩")
_MATH_MARKS = frozenset("\\=^_{}<>≤≥≠≈√π∞±∪∩×÷·°%+*/|∅ℝℤ")
_ENDS = ".,;:!?"

_delimiters = pattern(r"\\[()\[\]]|\\.|\$\$?|\\?\\begin\{", re.DOTALL)

_wordy = pattern(r"(?<![\\a-zA-Z{])[a-zA-Z]{2,}\s+[a-zA-Z]{2,}(?![a-zA-Z]*[{\\(])", 0)


def formulas(text: str, start: int, end: int) -> list[Claim]:
    """Formulas between ``$``, ``$$``, ``\\(…\\)`` and ``\\[…\\]``; the span includes the
    delimiters.
    """
    found: list[Claim] = []
    if "$" not in text and "\\" not in text:
        return found
    opened: tuple[str, int, int] | None = None
    for mark in _delimiters().finditer(text, start, end):
        symbol = mark[0]
        at = mark.start()
        if opened is None:
            if symbol[0] == "$" or symbol in ("\\(", "\\["):
                opened = (symbol, at, mark.end())
        elif symbol == {"\\(": "\\)", "\\[": "\\]"}.get(opened[0], opened[0]):
            content = text[opened[2] : at]
            if symbol == "$" and _is_currency(text, content, mark.end(), end):
                opened = (symbol, at, mark.end())
                continue
            if content.strip():
                found.append(Claim(content.strip(), opened[1], mark.end(), "formula"))
            opened = None
    return found


def _is_currency(text: str, content: str, after: int, end: int) -> bool:
    """Whether two dollar signs around ``content`` are two prices and no formula."""
    if "\n\n" in content:
        return True
    if content[-1:].isspace() and after < end and text[after].isdigit():
        return True
    return content[:1].isdigit() and bool(_wordy().search(content)) and "\\" not in content


def values(text: str) -> list[Claim]:
    """What a sentence holds of mathematics, in order: its formulas, and runs of numbers and
    operators between them.
    """
    if text.isdigit():
        return [Claim(text, 0, len(text), "last-number")]
    found: list[Claim] = []
    at = 0
    for formula in formulas(text, 0, len(text)):
        found += _runs(text, at, formula.start)
        found.append(formula)
        at = formula.end
    return found + _runs(text, at, len(text))


_token = pattern(r"\S+", 0)


def _runs(text: str, start: int, end: int) -> list[Claim]:
    """Longest runs of neighboring tokens that look like mathematics."""
    found: list[Claim] = []
    run: list[re.Match[str]] = []
    depth = 0
    tokens = list(_token().finditer(text, start, end))
    for token, following in zip(tokens, [*tokens[1:], None], strict=False):
        if _is_math(token[0], run, following):
            run.append(token)
            if not token[0].isalnum():
                depth += sum(map(token[0].count, "([{")) - sum(map(token[0].count, ")]}"))
            if (
                depth > 0
                or token[0][-1] not in _ENDS
                or (token[0] == ":" and following and following[0][0].isdigit())
            ):
                continue
        found += _close(text, run)
        run = []
        depth = 0
    return found + _close(text, run)


def _is_math(token: str, run: list[re.Match[str]], following: re.Match[str] | None) -> bool:
    core = token.strip("()[].,;:!?*\"'“”")
    if not core:
        return bool(run)
    if any(c.isnumeric() and not c.isalpha() for c in core):
        return not re.fullmatch(r"\d+(?:st|nd|rd|th)", core)
    if core[0] in _OPERATORS and len(core) <= 2:
        return bool(run) or core in "√∞"
    if len(core) == 1 and core.isalpha():
        after = following[0][0] if following else ""
        before = run[-1][0][-1] if run else ""
        return after in _OPERATORS or after == "\\" or before in _OPERATORS or core in "πℝℤ"
    if any(c in _MATH_MARKS for c in core):
        return (
            "\\" in core
            or any(c in "=^_{}√π∞∪∩∅" for c in core)
            or not re.search(r"[a-zA-Z]{2}", core)
        )
    return False


def _close(text: str, run: list[re.Match[str]]) -> list[Claim]:
    if not run:
        return []
    start = run[0].start()
    end = run[-1].end()
    while end > start and text[end - 1] in ".,;:?*\"'”" and not text.startswith("..", end - 2):
        end -= 1
    while start < end and text[start] in "*\"'“":
        start += 1
    content = text[start:end]
    if content.endswith(")") and content.count("(") < content.count(")"):
        content = content[:-1]
        end = end - 1
    if content.startswith("(") and content.count("(") > content.count(")"):
        content = content[1:]
        start = start + 1
    if content[-1:] in ("-", "–", "—", "/", "="):  # "5 - which" is no difference
        content = content[:-1].rstrip()
        end = start + len(content)
    return [Claim(content, start, end, "last-number")] if content else []


_number = pattern(
    r"(?:(?<![\w)\]}])[-+−–])?[$€£¥₹]?\s?(?<!\d)(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:\s?/\s?\d+)?(?:\s?\\?%)?"
    r"|(?<![\w.])[-+−]?\.\d+|[½⅓⅔¼¾⅕⅛]",
    0,
)


def numbers(text: str, start: int, end: int) -> list[Claim]:
    """Plain numbers with their sign, currency, fraction and percent sign."""
    return [
        Claim(m[0].strip(), m.start(), m.end(), "last-number")
        for m in _number().finditer(text, start, end)
    ]


_bold = pattern(r"\*\*([^*\n]{1,200})\*\*|\\textbf\{([^{}\n]{1,200})\}", 0)


_HEADING = re.compile(
    r"\s*(?:step|part|case|problem|question|note|example|solution|explanation|answer|final"
    r" answer|method|given)\b|\d+[.)]\s|\s*(?:conclusion|summary|result)\s*\Z|(?:[^\W\d_]+\s+\d+|\d+\.?\s*[^\W\d_]+)\s?[:：]\D*\Z",
    re.IGNORECASE,
)


def bolds(text: str, start: int, end: int) -> list[Claim]:
    """Bold text that is no heading."""
    found: list[Claim] = []
    for mark in _bold().finditer(text, start, end):
        content = (mark[1] or mark[2]).strip()
        if content and not content.endswith((":", "：")) and not _HEADING.match(content):
            found.append(Claim(content, mark.start(), mark.end(), "bold"))
    return found


def is_plain(text: str) -> bool:
    """Whether a statement is little more than a value, and so can rival another one."""
    if len(text) > 200:
        return False
    found_values = values(text)
    if not found_values:
        return len(text.split()) <= 3
    words = text[: found_values[0].start].split()
    rest = text[found_values[-1].end :].split()
    return len(words) <= 2 and len(rest) <= 6
