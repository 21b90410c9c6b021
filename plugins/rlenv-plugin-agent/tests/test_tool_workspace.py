"""Tools for files and programs reach the episode's workspace, through the real sandbox, and nothing
else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import pytest
from rlenv import sandbox as port
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Profile, Workspace, WorkspaceError
from rlenv_plugin_agent.state.open_state import PROFILE, open_workspace
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.catalog import CATALOG
from rlenv_plugin_agent.tools.context import ToolContext

Play = Callable[..., Awaitable[str]]
T = TypeVar("T")


def drive(
    talk: Callable[[Play], Awaitable[T]],
    files: Mapping[str, str | bytes] | None = None,
    profile: Profile = PROFILE,
    parts: Mapping[type, object] | None = None,
) -> T:
    async def main() -> T:
        held = await open_workspace(files=files, profile=profile)
        context = ToolContext(parts={**held.parts, **(parts or {})})
        try:
            return await talk(lambda name, **given: observe(CATALOG, name, given, context))
        finally:
            await held.close()

    try:
        return asyncio.run(main())
    finally:
        port.close_all()


def failure(observation: str) -> str:
    return str(json.loads(observation)["error"]["message"])


def test_files_are_written_read_edited_and_listed() -> None:
    async def talk(play: Play) -> None:
        assert "wrote 8" in await play("file_write", file="a/b.txt", content="one\ntwo\n")
        assert await play("file_read", file="a/b.txt") == "one\ntwo\n"
        assert await play("file_read", file="/workdir/a/b.txt", start=2) == "two\n"
        assert "start = 2" in await play("file_read", file="a/b.txt", lines=1)
        assert "2 lines" in failure(await play("file_read", file="a/b.txt", start=9))
        assert await play("list") == "a/\na/b.txt 8"
        assert await play("list", folder="a") == "a/b.txt 8"
        assert await play("list", folder="b") == "[empty]"
        assert "0 times" in failure(await play("edit", file="a/b.txt", old="three", new="x"))
        assert "2 times" in failure(await play("edit", file="a/b.txt", old="o", new="0"))
        assert "0 times" in failure(await play("edit", file="a/b.txt", old="", new="0"))
        await play("edit", file="a/b.txt", old="o", new="0", everywhere=True)
        assert await play("file_read", file="a/b.txt") == "0ne\ntw0\n"
        assert "no such file" in failure(await play("edit_file", file="new", code="x"))
        await play("edit_file", file="a/b.txt", code="x")
        assert await play("file_read", file="a/b.txt") == "x"

    drive(talk)


def test_an_edit_does_not_fill_the_memory() -> None:
    async def talk(play: Play) -> None:
        await play("file_write", file="a", content="a" * 900_000)
        found = await play("edit", file="a", old="a", new="b" * 900_000, everywhere=True)
        assert "longer" in failure(found)

    drive(talk)


def test_an_edit_keeps_a_file_executable() -> None:
    async def talk(play: Play) -> None:
        await play("shell", command="printf '#!/bin/sh\\necho one' > go; chmod +x go")
        await play("edit", file="./go", old="one", new="two")
        assert json.loads(await play("shell", command="./go"))["stdout"] == "two\n"

    drive(talk)


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../../x",
        "/etc/passwd",
        "/workdir/../x",
        "/workdir//etc/passwd",
        "a\0b",
        "",
        ".",
        "x" * 2000,
        "\ud800",
        "/proc/self/environ",
        "/dev/zero",
    ],
)
def test_no_path_leads_out(path: str) -> None:
    async def talk(play: Play) -> None:
        for name, more in (
            ("file_read", {}),
            ("file_write", {"content": "x"}),
            ("edit_file", {"code": "x"}),
            ("section_write", {"heading": "a", "text": "b"}),
        ):
            assert failure(await play(name, file=path, **more))
        assert await play("list") == "[empty]"

    drive(talk)


def test_links_and_devices_lead_nowhere() -> None:
    async def talk(play: Play) -> None:
        await play(
            "shell",
            command=(
                "ln -s /etc/passwd p; ln -s /etc d; ln -s / all; mkfifo f; mknod n c 1 5; ln -s"
                " /dev/zero z"
            ),
        )
        for path in ("p", "d/passwd", "all/etc/passwd", "f", "n", "z"):
            assert failure(await play("file_read", file=path))
        assert failure(await play("file_write", file="d/x", content="x"))
        await play("file_write", file="p", content="mine")
        assert await play("file_read", file="p") == "mine"

    drive(talk)


def test_programs_run_and_their_files_stay() -> None:
    async def talk(play: Play) -> None:
        found = json.loads(
            await play("python_interpreter", code="open('a', 'w').write('1'); print(2)")
        )
        assert found == {"status": 0, "stdout": "2\n", "stderr": ""}
        found = json.loads(await play("shell", command="cat a; echo no >&2; exit 3"))
        assert found == {"status": 3, "stdout": "1", "stderr": "no\n"}
        found = json.loads(
            await play("python_interpreter", code="a = 1" + " " * 200_000 + "\nraise SystemExit(4)")
        )
        assert found["status"] == 4
        assert "write a file" in failure(await play("shell", command="#" * 200_000))
        shown = json.loads(await play("shell", command="head -c 900000 /dev/zero | tr '\\0' x"))[
            "stdout"
        ]
        assert len(shown) < 21_000
        assert "left out" in shown

    drive(talk)


def test_a_runtime_of_python_alone_runs_programs_and_no_shell() -> None:
    async def talk(play: Play) -> None:
        assert json.loads(await play("python_interpreter", code="print(2)"))["stdout"] == "2\n"

    drive(talk, profile=Profile(workspace_mb=4))


def test_a_program_that_overruns_its_limits_is_an_observation() -> None:
    async def talk(play: Play) -> None:
        found = json.loads(await play("shell", command="while :; do :; done"))
        assert found["ended"] in ("by cpu", "by wall")
        found = json.loads(await play("shell", command="dd if=/dev/zero of=big bs=1M count=20"))
        assert found["ended"] == "by disk"
        assert await play("list") == "[empty]"

    drive(talk, profile=Profile(runtime="native", cpu_s=0.3, wall_s=1.0, workspace_mb=8))


def test_tests_see_the_present_version_of_a_file() -> None:
    """The files of a workspace have no times, and both versions have one size: old bytecode would
    pass for the new.
    """
    files = {
        "mod.py": "X = 3",
        "test_mod.py": (
            "import unittest, mod\nclass T(unittest.TestCase):\n    def test(self):"
            " self.assertEqual(mod.X, 3)\n"
        ),
    }

    async def talk(play: Play) -> None:
        assert json.loads(await play("run_tests"))["status"] == 0
        await play("shell", command="python3 -c 'import mod'")
        await play("edit", file="mod.py", old="3", new="4")
        assert json.loads(await play("run_tests"))["status"] != 0
        assert (
            json.loads(await play("shell", command="python3 -c 'import mod; print(mod.X)'"))[
                "stdout"
            ]
            == "4\n"
        )
        assert "__pycache__" not in await play("list")

    drive(talk, files)


def test_sections_are_written_one_by_one() -> None:
    async def talk(play: Play) -> None:
        await play("section_write", file="r.md", heading="A", text="one\n# not a heading of ours")
        await play("section_write", file="r.md", heading="B", text="two")
        assert "replaced" in await play("section_write", file="r.md", heading="A", text="three")
        assert (
            await play("file_read", file="r.md")
            == "## A\n\nthree\n\n# not a heading of ours\n\n## B\n\ntwo\n"
        )
        assert "one line" in failure(
            await play("section_write", file="r.md", heading="a\nb", text="")
        )

    drive(talk)


def test_a_workspace_that_cannot_be_opened_leaves_nothing_open() -> None:
    with pytest.raises(WorkspaceError):
        drive(lambda _: asyncio.sleep(0), files={"../out": "x"})
    with pytest.raises(ConfigError, match="workspace_mb"):
        drive(lambda _: asyncio.sleep(0), profile=Profile())


def test_a_workspace_can_be_snapshot_and_restored() -> None:
    async def main() -> bytes:
        held = await open_workspace(files={"a": "one"})
        assert held.parts[Workspace] is held.workspace
        saved = await held.workspace.snapshot()
        await held.workspace.write("a", b"two")
        await held.workspace.restore(saved)
        content = await held.workspace.read("a")
        await held.close()
        return content

    try:
        assert asyncio.run(main()) == b"one"
    finally:
        port.close_all()
