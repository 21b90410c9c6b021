"""Responses that stop a verifier which works on them without a limit: patterns, numbers and nesting
that cost too much.

Standard library only: an audit uses them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

__all__ = ["BOMBS", "costly_responses", "planted"]

LONG = 5_000  # characters; a longer bomb is planted in fewer places
BOMBS: Mapping[str, str] = {
    # Compiled by a verifier, the first backtracks on any text, the empty one too; the second needs
    # a run of letters.
    "a pattern of nested repeats": "(?:(?:(?:x?){9999}){9999}){9999}",
    "a pattern that backtracks": "(a+)+$",
    "a pattern that backtracks on words": "((((.+)+)+)+)+(?!)",
    "a pattern and its text": "(a+)+$\n" + "a" * 40 + "!",
    "a text that makes patterns backtrack": "a" * 5_000 + "!",
    "a power tower": "9**9**9**9",
    "a power tower in LaTeX": "9^{9^{9^{9^9}}}",
    "a large power": "10**10**10",
    "a large shift": "1 << 10**10",
    "a large factorial": "factorial(10**9)",
    "a factorial in LaTeX": "(10^9)!",
    "a large exponent": "1e999999999",
    "a decimal of a large exponent": "1.5E+999999999",
    "a large repetition": "'a' * 10**11",
    "a large sum": "sum(range(10**11))",
    "a loop without end": "while True: pass",
    "a large width": "{:>9999999999}%09999999999d",
    "an entity bomb": (
        '<!DOCTYPE x [<!ENTITY a "'
        + "a" * 99
        + '"><!ENTITY b "'
        + "&a;" * 99
        + '"><!ENTITY c "'
        + "&b;" * 99
        + '"><!ENTITY d "'
        + "&c;" * 99
        + '">]><x>&d;</x>'
    ),
    "a bomb of anchors": (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{two}: &{two} [{', '.join(['*' + one] * 9)}]\n"
            for one, two in zip("abcdefgh", "bcdefghi", strict=True)
        )
    ),
    "a number of 5,000 digits": "9" * 5_000,
    "a number of 100,000 digits": "9" * 100_000,
    "a small exponent": "1e-999999999",
    "10,000 nested brackets": "(" * 10_000 + "1" + ")" * 10_000,
    "10,000 nested lists": "[" * 10_000 + "]" * 10_000,
    "10,000 nested objects": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "10,000 nested tags": "<a>" * 10_000 + "</a>" * 10_000,
    "10,000 minus signs": "-" * 10_000 + "1",
    "10,000 nested quotes": "> " * 5_000 + "1" + "\"'" * 5_000,
    "2,000 nested fences": "".join("`" * (3 + n % 60) + "\n" for n in range(2_000)) + "1",
    "2,000 thinking marks": "<think>" * 2_000 + "1" + "</think>" * 2_000,
    "2,000 nested boxes": "\\boxed{" * 2_000 + "1" + "}" * 2_000,
    "a line of 1 MB": "x" * 1_000_000,
    "a line of 1 MB of blanks": " " * 1_000_000,
    "a line of 1 MB of digits": "7" * 1_000_000,
    "200,000 lines": "1\n" * 200_000,
    "50,000 combining marks": "a" + "\u0301" * 50_000,
    "text from right to left": "\u202e\u2067" * 5_000 + "42" + "\u2069\u202c" * 5_000,
    "lone surrogates": "\ud800" * 5_000 + "1" + "\udfff" * 5_000,
}
FORMS = ("{}", "`{}`", "```\n{}\n```", "\\boxed{{{}}}", "<answer>{}</answer>", "Answer: {}")
# Where an example holds its answer: in a fence, a code span, a box, a tag, quotes, after a mark, or
# as a number.
HOLES = re.compile(
    r"```[^\n`]*\n(.*?)\n?```|`([^`\n]+)`|\\boxed\{([^{}]*)\}|<answer>(.*?)</answer>|\"([^\"\n]+)\"|'([^'\n]+)'"
    r"|(?:[Aa]nswer:?|####)[ \t]*(?:is[ \t]*)?(\S[^\n]*)|(?<![\w.])(-?\d[\d.,]*)",
    re.DOTALL,
)


def costly_responses(examples: Sequence[str], places: int | None) -> Iterator[tuple[str, str]]:
    """Responses that a verifier without limits cannot end: deep patterns, large numbers, nesting.

    Args:
        examples: responses of the usual form; each cost is put in the place of their answers, and
            stands alone.
        places: how many responses there are of each kind, at most; None: as many as there are.

    Returns:
        An iterator of (name of the kind, response).
    """
    for name, bomb in BOMBS.items():
        yield from ((name, text) for text in islice(planted(bomb, examples), places))


def planted(bomb: str, examples: Sequence[str]) -> Iterator[str]:
    """A bomb in place of the answer of each example, by itself, in place of other parts, and in the
    forms that verifiers read.
    """
    first: list[str] = []
    rest: list[str] = []
    for example in examples:
        holes = [match.span(match.lastindex or 0) for match in HOLES.finditer(example)][:3]
        made = [example[:start] + bomb + example[end:] for start, end in holes]
        first = first + made[:1]
        rest = rest + made[1:]
    forms = [form.format(bomb) for form in (FORMS if len(bomb) <= LONG else FORMS[:2])]
    yield from dict.fromkeys([*first, bomb, *rest, *forms])
