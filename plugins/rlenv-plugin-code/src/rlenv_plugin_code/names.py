"""What a program imports and uses: its syntax tree is made in the sandbox, see
``guest/rlenv_names``.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from .artifacts import Answer, Program
from .compiler import asked

__all__ = ["Names", "are_lines", "names_in"]

MOST = 200_000  # names of one program


@frozen
class Names:
    """(dotted name, line of the source) of what is imported and of what is used.

    ``.x`` for any attribute x.
    """

    imports: tuple[tuple[str, int], ...]
    uses: tuple[tuple[str, int], ...]


async def names_in(runs: Any, program: Program) -> Names | Answer:
    """The names in a Python program, or why it cannot be read.

    Raises:
        ConfigError, VerifierFault: as ``compiler.checked``.
    """
    answer = await asked(runs, program, "import rlenv_names; rlenv_names.serve()")
    if answer.status != "ok":
        return answer
    body = answer.value
    if type(body) is not list or len(body) != 2 or not all(map(are_lines, body)):
        return Answer("protocol", error="an answer of no known form")
    return Names(*(tuple((name, line) for name, line in pairs) for pairs in body))


def are_lines(items: Any) -> bool:
    """Whether these are [what, line of the source] each."""
    return (
        type(items) is list
        and len(items) <= MOST
        and all(type(item) is list and list(map(type, item)) == [str, int] for item in items)
    )
