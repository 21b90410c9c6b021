"""Checkers: a task's own ``check(stdin, stdout, expected)``, in a sandbox that the response's
program never saw.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlenv_plugin_code.codec import Unencodable

from .function import call_text
from .runs import Runs

__all__ = ["checked"]


async def checked(
    runs: Runs, source: str, outputs: Sequence[tuple[str, str, str]]
) -> list[bool | str]:
    """Whether the checker accepts each (stdin, stdout, expected).

    A text instead of a verdict says how the checker failed on that output: an output that it cannot
    read is no right one, so this counts as a refusal.

    Raises:
        VerifierFault: the sandbox broke.
    """
    try:
        calls = [call_text("check", output, {}) for output in outputs]
    except Unencodable as err:
        return [f"too long: {err}"] * len(outputs)
    return [
        answer.value is True if answer.status == "ok" else f"{answer.status}: {answer.error}"
        for answer in await runs.calls(source, calls)
    ]
