"""Tools that run programs in the sandbox, with the episode's workspace as their directory."""

from __future__ import annotations

from typing import TypeAlias

from rlenv import ConfigError, Fault, VerifierFault
from rlenv.sandbox import Exit

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.state.open_state import Interpreter
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

from .files import explain_rejection, workspace_of

SHOWN = 20_000  # characters of each, standard output and error; the middle of more is left out
# Files of a workspace have no times, so Python would take the bytecode of an earlier version for
# that of the present.
FRESH = ("PYTHONDONTWRITEBYTECODE=1", "PYTHONPYCACHEPREFIX=/tmp/bytecode")
Program: TypeAlias = str | tuple[str, ...]
LONGEST = 100_000  # characters of a command
WAIT = 120.0  # seconds: of the program, and for its turn
UNITTEST = (
    "import sys, unittest\nsys.path.insert(0, '')\nunittest.main(module=None, argv=['tests',"
    " 'discover'])"
)


@tool(category="code execution", timeout=WAIT)
async def python_interpreter(context: ToolContext, code: str) -> dict[str, object]:
    """Run a Python program in the workspace; its variables are gone when it ends, and its files stay.

    Args:
        context: of the episode; the policy does not give it.
        code: the whole program; print what you want to see.
    """  # noqa: E501 - a policy reads it as it stands
    return await _python(context, code)


@tool(category="code execution", timeout=WAIT)
async def shell(context: ToolContext, command: str) -> dict[str, object]:
    """Run a shell command in the workspace.

    Args:
        context: of the episode; the policy does not give it.
        command: for ``sh -c``.
    """
    if len(command) > LONGEST:
        raise ToolError(f"a command has {LONGEST:,} characters at most; write a file and run it")
    return await _run(context, ("/usr/bin/env", *FRESH, "/bin/sh", "-c", command))


@tool(category="code execution", timeout=WAIT)
async def run_tests(context: ToolContext) -> dict[str, object]:
    """Run the tests in the workspace, as ``unittest`` discovers them; others, unseen, may decide."""  # noqa: E501 - a policy reads it as it stands
    return await _python(context, UNITTEST)


async def _python(context: ToolContext, code: str) -> dict[str, object]:
    found = context.parts.get(Interpreter)
    if not isinstance(found, Interpreter):
        return await _run(context, code)
    return await _run(context, found.words, code.encode("utf-8", "replace"))


async def _run(context: ToolContext, program: Program, stdin: bytes = b"") -> dict[str, object]:
    workspace = workspace_of(context)
    try:
        with explain_rejection():
            end = await workspace.run(program, stdin=stdin)
    except ConfigError as error:  # the operator's, and not an observation
        raise VerifierFault(Fault("error", str(error))) from error
    if end.fault is not None:
        raise VerifierFault(end.fault)
    return _describe_end(end)


def _describe_end(end: Exit) -> dict[str, object]:
    why = {} if end.reason == "exit" else {"ended": f"by {end.reason}"}
    return {"status": end.status, **why, "stdout": _text(end.stdout), "stderr": _text(end.stderr)}


def _text(printed: bytes) -> str:
    text = printed.decode("utf-8", "replace")
    left = len(text) - SHOWN
    half = SHOWN // 2
    return text if left <= 0 else f"{text[:half]}\n[{left:,} characters left out]\n{text[-half:]}"
