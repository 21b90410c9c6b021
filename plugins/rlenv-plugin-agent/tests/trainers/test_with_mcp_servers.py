"""Our client of MCP with servers of the official package, of both its major versions, over each
transport.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from rlenv import ConfigError
from rlenv.authoring import File
from rlenv.sandbox import close_all
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.mcp.server import McpServer
from rlenv_plugin_agent.tools.mcp.table import McpServers
from rlenv_plugin_agent.tools.tool import open_tools

pytest.importorskip(
    "mcp", reason="the package mcp is not installed here: `make test-trainers` runs this"
)
IS_FIRST = version("mcp").startswith("1.")
PROGRAM = """
import sys
from {module} import {server}, Context

how, port = (sys.argv[1:] + ["stdio", "0"])[:2]
server = {server}("official"{early})


@server.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b


@server.tool()
def table(rows: list[dict[str, float]], name: str = "t") -> dict[str, float]:
    "Sum the columns."
    return {{key: sum(row[key] for row in rows) for key in rows[0]}}


@server.tool()
def fail(text: str) -> str:
    "Fail."
    raise ValueError(text)


@server.tool()
async def slow(context: Context) -> str:
    "Report progress, then answer."
    for n in range(5):
        await context.report_progress(n, 5)
        await context.info(f"step {{n}}")
    return "done"


server.run("stdio" if how == "stdio" else "streamable-http"{late})
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A server as the documentation of the installed version writes it."""
    first = {
        "module": "mcp.server.fastmcp",
        "server": "FastMCP",
        "early": ', port=int(port), stateless_http=how == "json", json_response=how == "json"',
        "late": "",
    }
    second = {
        "module": "mcp.server.mcpserver",
        "server": "MCPServer",
        "early": "",
        "late": (
            ', **({} if how == "stdio" else {"port": int(port), "stateless_http": how == "json",'
            ' "json_response": how == "json"})'
        ),
    }
    path = tmp_path / "server.py"
    path.write_text(PROGRAM.format(**(first if IS_FIRST else second)))
    return path


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    close_all()


async def used(server: dict[str, Any], hosts: tuple[str, ...] = ()) -> list[str]:
    """What calls of the server's tools return; the pin is what the error of the first attempt
    says.
    """
    pin = ""
    for _ in range(2):
        with suppress(ConfigError):
            async with AsyncExitStack() as stack:
                table = McpServers([McpServer("o", pin=pin, **server)], hosts)
                try:
                    tools = await open_tools({"mcp": table}, (), stack)
                except ConfigError as error:
                    pin = str(error).split('"')[1]
                    raise
                asked: list[tuple[str, object]] = [
                    ("add", {"a": 1, "b": 2}),
                    ("table", {"rows": [{"x": 1}, {"x": 2.5}]}),
                    ("fail", {"text": "on purpose"}),
                    ("slow", {}),
                    ("add", {"a": "one"}),
                    ("add", {"a": 40, "b": 2}),
                ]
                return [await observe(tools, *each, ToolContext()) for each in asked]
    raise AssertionError("never opened")


def check(found: list[str]) -> None:
    added, summed, failed, slow, wrong, last = found
    assert (added, slow, last) == ("3", "done", "42")
    assert json.loads(summed) == {"x": 3.5}
    assert "Error executing tool fail" in json.loads(failed)["error"]["message"]
    assert json.loads(wrong)["error"]["tool"] == "add"


@pytest.mark.parametrize("trust", [False, True])
def test_a_server_answers_over_standard_input_and_output(program: Path, *, trust: bool) -> None:
    options = {} if trust else {"paths": [sys.prefix]}
    command = [sys.executable, program.name]

    check(
        asyncio.run(
            used({"command": command, "files": [File(str(program))], "trust": trust, **options})
        )
    )


@pytest.mark.parametrize("how", ["events", "json"])
def test_a_server_answers_over_http(program: Path, how: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, program, how, str(port)], stderr=subprocess.DEVNULL)
    host = f"127.0.0.1:{port}"
    try:
        for _ in range(200):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        check(asyncio.run(used({"url": f"http://{host}/mcp"}, (host,))))
    finally:
        server.kill()
        server.wait()
