"""A program made ready to run."""

from __future__ import annotations

from rlenv_plugin_code.artifacts import Answer, Compiled, Program
from rlenv_plugin_code.languages import language as language_of

from .runs import Runs

__all__ = ["compiled"]


async def compiled(runs: Runs, program: Program) -> Compiled | Answer:
    """The program, compiled where its language asks for that.

    An answer says why it does not compile.

    Raises:
        ConfigError: such a sandbox cannot be had here.
        VerifierFault: the sandbox broke.
    """
    if not language_of(program.language).native:
        return Compiled(program)
    from rlenv_plugin_code.compiler import executable

    return await executable(runs, program)
