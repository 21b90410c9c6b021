"""A directory that outlives programs: what its two sides see of each other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Entry, Profile, Session, Workspace, WorkspaceError

# Programs leave it to their interpreter to close files; with the adapter in memory that is the
# tests' own.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
MADE = """
import os
os.makedirs("sub/deeper"); os.mkdir("empty")
open("a.txt", "w").write("one")
open("sub/deeper/go", "w").write("#!/bin/sh")
os.chmod("sub/deeper/go", 0o755)
os.symlink("a.txt", "near"); os.symlink("/etc/passwd", "far"); os.utime("a.txt", (5, 5))
"""
ENTRIES = [
    Entry("a.txt", "file", 3),
    Entry("empty", "directory"),
    Entry("far", "link", target="/etc/passwd"),
    Entry("near", "link", target="a.txt"),
    Entry("sub", "directory"),
    Entry("sub/deeper", "directory"),
    Entry("sub/deeper/go", "file", 9, executable=True),
]
HASH = "6a7db177c3068dacbbaf31a513aedad56762cddceb6c01a50c1917cc27008975"


def test_a_session_without_a_workspace_says_how_to_get_one(box: Any) -> None:
    async def talk(session: Session) -> None:
        with pytest.raises(ConfigError, match="workspace_mb"):
            _ = session.workspace

    box.drive(talk)


@pytest.mark.parametrize("wrong", [{"workspace_mb": 65}, {"workspace_mb": -1}])
def test_a_workspace_beyond_an_eighth_of_the_memory_is_an_error(box: Any, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="64"):
        box.profile(memory_mb=512, **wrong)


@pytest.mark.parametrize("entries", [0, 20_001])
def test_a_workspace_has_a_number_of_files_between_bounds(box: Any, entries: int) -> None:
    with pytest.raises(ValueError, match="workspace_files"):
        box.profile(workspace_files=entries)


def test_what_is_written_on_one_side_is_read_on_the_other(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("in/some.bin", b"\0\xff" * 3)
        await workspace.write("go.sh", b"true", executable=True)
        source = (
            "import os\ndata = open('in/some.bin', 'rb').read()\nos.mkdir('out')\n"
            "open('out/back', 'wb').write(data[::-1])\nprint(os.stat('go.sh').st_mode & 0o777)"
        )
        end = await workspace.run(source)
        assert (end.reason, end.status, end.fault) == ("exit", 0, None), end.stderr
        assert end.stdout == b"493\n"
        assert await workspace.read("out/back") == b"\xff\0" * 3

    box.work(talk)


def test_every_kind_of_entry_is_listed_and_equal_content_has_an_equal_id(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        empty = await workspace.snapshot()
        end = await workspace.run(MADE)
        assert end.status == 0, end.stderr
        assert list(await workspace.list()) == ENTRIES
        assert await workspace.snapshot() == HASH != empty
        await workspace.run("import os; os.utime('a.txt', (9, 9)); open('a.txt', 'w').write('one')")
        assert await workspace.snapshot() == HASH
        for change in (
            "os.chmod('a.txt', 0o744)",
            "os.rename('empty', 'other')",
            "os.remove('near')",
        ):
            await workspace.run(f"import os; {change}")
            assert await workspace.snapshot() != HASH
            await workspace.restore(HASH)

    box.work(talk)


def test_restoring_brings_back_all_and_removes_the_rest(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.run(MADE)
        before = await workspace.snapshot()
        wreck = (
            "import os, shutil; shutil.rmtree('sub'); os.remove('near'); os.symlink('sub',"
            " 'near')\nopen('a.txt', 'a').write('more'); os.mkdir('new'); open('new/file', 'w')"
        )
        assert (await workspace.run(wreck)).status == 0
        after = await workspace.snapshot()
        await workspace.restore(before)
        assert list(await workspace.list()) == ENTRIES
        seen = "import os; print(sorted(os.listdir('.')), open('near').read(), os.readlink('far'))"
        end = await workspace.run(seen)
        assert end.stdout == b"['a.txt', 'empty', 'far', 'near', 'sub'] one /etc/passwd\n"
        await workspace.restore(after)
        assert await workspace.read("new/file") == b""

    box.work(talk)


def test_a_snapshot_can_be_restored_in_another_workspace(box: Any) -> None:
    async def branch(name: str, id_: str, trunk: Workspace) -> bytes:
        async with box.session(workspace_mb=4, workspace_files=200) as session:
            await session.workspace.restore(id_, trunk)
            await session.workspace.run(f"open('log', 'a').write({name!r})")
            data: bytes = await session.workspace.read("log")
            return data

    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("log", b"trunk ")
        made = await workspace.snapshot()
        for said in await asyncio.gather(*(branch(n, made, workspace) for n in "ab")):
            assert said in {b"trunk a", b"trunk b"}
        assert await workspace.read("log") == b"trunk "

    box.work(talk)


@pytest.mark.parametrize("unknown", ["", "0" * 64, "../../etc/passwd"])
def test_a_snapshot_that_is_not_there_is_an_error(box: Any, unknown: str) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        async with box.session(workspace_mb=4, workspace_files=200) as session:
            other = session.workspace
            await other.write("secret", b"theirs")
            theirs = await other.snapshot()
        for wanted in (unknown, theirs):
            with pytest.raises(WorkspaceError, match="snapshot"):
                await workspace.restore(wanted)
        with pytest.raises(WorkspaceError, match="snapshot"):
            await workspace.restore(theirs, other)  # whose session is closed

    box.work(talk)


def test_command_lines_run_in_a_workspace(box: Any) -> None:
    box.needs("native")

    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("go.sh", b"#!/bin/sh\ncat > out; echo $1\n", executable=True)
        end = await workspace.run(["./go.sh", "word"], stdin=b"given")
        assert (end.status, end.stdout) == (0, b"word\n"), end.stderr
        assert await workspace.read("out") == b"given"

    box.work(talk, runtime="native")


def test_runs_take_turns_and_so_does_all_else(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        source = "import time; time.sleep(0.1); open('log', 'a').write('{} ')"
        calls = [asyncio.create_task(workspace.run(source.format(n))) for n in range(3)]
        reading = asyncio.create_task(workspace.read("log"))
        writing = asyncio.create_task(workspace.write("log", b"new"))
        assert [(await call).status for call in calls] == [0, 0, 0]
        assert await reading == b"0 1 2 "
        await writing
        assert await workspace.read("log") == b"new"

    box.work(talk)


def test_a_program_with_a_channel_runs_in_the_workspace_and_is_finished_first(
    box: Any, frames: str
) -> None:
    async def talk(workspace: Workspace, session: Session) -> None:
        await workspace.write("name", b"old")
        source = frames + "send(open('name', 'rb').read()); open('name', 'wb').write(receive())"
        await session.start(source, {"given": b"x"})
        assert await session.recv(100, 10) == b"old"
        calls: list[Any] = [workspace.run("pass"), workspace.read("name"), workspace.snapshot()]
        for call in calls:
            with pytest.raises(RuntimeError, match="one program at a time"):
                await call
        await session.send(b"new")
        assert (await session.finish()).status == 0
        assert await workspace.read("name") == b"new"
        assert await workspace.read("given") == b"x"

    box.work(talk)


PATHS = {
    "": "inside", "/etc/passwd": "inside", "../up": "inside", "a/../../up": "inside",
    "a/..": "inside", ".": "inside", "a\0b": "NUL", "\ud800": "Unicode", "x/" * 64 + "x": "64",
    "n" * 1025: "1024", "é" * 600: "1024",
}  # fmt: skip


def test_a_path_that_leads_out_or_cannot_be_is_an_error(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        for path, said in PATHS.items():
            with pytest.raises(WorkspaceError, match=said):
                await workspace.read(path)
            with pytest.raises(WorkspaceError, match=said):
                await workspace.write(path, b"")
        assert list(await workspace.list()) == []

    box.work(talk)


def test_paths_are_normalized(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("./a//b/./c", b"x")
        await workspace.write("tab\t new\nline/ünï", b"y")
        assert await workspace.read("a/b/c/") == b"x"
        end = await workspace.run(
            "print(open('a/b/c').read(), open('tab\\t new\\nline/ünï').read())"
        )
        assert end.stdout == b"x y\n", end.stderr

    box.work(talk)


def test_only_files_are_read_and_no_link_is_followed(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.run(
            "import os; os.mkdir('dir'); os.symlink('dir', 'link'); os.symlink('/etc/passwd',"
            " 'out')"
        )
        await workspace.write("dir/file", b"12345")
        for path, said in {
            "dir": "directory",
            "out": "/etc/passwd",
            "link/file": "link",
            "dir/file/x": "file",
            "none": "no such",
        }.items():
            with pytest.raises(WorkspaceError, match=said):
                await workspace.read(path)
        for path in ("dir", "link/file", "dir/file/x", "out/x"):
            with pytest.raises(WorkspaceError):
                await workspace.write(path, b"evil")
        with pytest.raises(WorkspaceError, match="5 bytes"):
            await workspace.read("dir/file", 4)
        assert await workspace.read("dir/file", 5) == b"12345"
        await workspace.write("out", b"a file now")
        end = await workspace.run("import os; print(os.path.islink('out'), open('out').read())")
        assert end.stdout == b"False a file now\n"

    box.work(talk)


def test_what_does_not_fit_is_not_written_and_what_fits_can_be_run(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("most", bytes(4 << 20))
        for path, said in {"more": "MiB", "a/" * 40 + "a": "MiB"}.items():
            with pytest.raises(WorkspaceError, match=said):
                await workspace.write(path, b"x")
        end = await workspace.run("import os; print(os.path.getsize('most')); os.remove('most')")
        assert end.stdout == b"4194304\n", end.stderr
        for n in range(200):
            await workspace.write(f"{n}", b"")
        with pytest.raises(WorkspaceError, match="201"):
            await workspace.write("200", b"")
        assert (await workspace.run("import os; print(len(os.listdir('.')))")).stdout == b"200\n"

    box.work(talk)


def test_a_run_that_is_canceled_leaves_the_workspace_as_it_was(box: Any) -> None:
    box.needs("kill")

    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("kept", b"x")
        source = "import os, time\nos.remove('kept'); open('new', 'w'); time.sleep(60)"
        running = asyncio.create_task(workspace.run(source))
        await asyncio.sleep(1.0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert [entry.path for entry in await workspace.list()] == ["kept"]
        assert (await workspace.run("print(open('kept').read())")).stdout == b"x\n"

    box.work(talk)


def test_what_was_written_before_a_limit_is_kept(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        source = "import time\nopen('log', 'w').write('so far')\nwhile True: time.sleep(0.05)"
        end = await workspace.run(source, wall_s=1.0)
        assert (end.reason, end.fault) == ("wall", None)
        assert await workspace.read("log") == b"so far"

    box.work(talk)


def test_a_session_holds_no_place_while_no_program_runs(box: Any) -> None:
    async def whole() -> list[bytes]:
        opened = [
            await box.sandbox.open(box.profile(workspace_mb=4, workspace_files=200))
            for _ in range(9)
        ]
        ends = await asyncio.gather(*(s.workspace.run(f"print({n})") for n, s in enumerate(opened)))
        await asyncio.gather(*(session.close() for session in opened))
        return [end.stdout for end in ends]

    assert asyncio.run(asyncio.wait_for(whole(), 60)) == [b"%d\n" % n for n in range(9)]


def test_a_closed_session_has_forgotten_its_workspace(box: Any) -> None:
    async def whole() -> None:
        session = await box.sandbox.open(box.profile(workspace_mb=4, workspace_files=200))
        workspace = session.workspace
        await workspace.write("file", b"x")
        await session.close()
        await session.close()
        for call in (
            workspace.read("file"),
            workspace.list(),
            workspace.run("pass"),
            workspace.snapshot(),
        ):
            with pytest.raises(RuntimeError, match="closed"):
                await call

    asyncio.run(whole())


def test_programs_of_one_workspace_find_nothing_else_of_each_other(box: Any) -> None:
    box.needs("walls")

    async def talk(workspace: Workspace, _: Session) -> None:
        plant = (
            "open('/tmp/planted', 'w').write('x'); open('kept', 'w').write('x'); import sys;"
            " sys.planted = 1"
        )
        assert (await workspace.run(plant)).status == 0
        end = await workspace.run(
            "import os, sys; print(os.listdir('.'), os.path.exists('/tmp/planted'), hasattr(sys,"
            " 'planted'))"
        )
        assert end.stdout == b"['kept'] False False\n"

    box.work(talk)


def test_a_workspace_is_of_its_session_alone(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.write("mine", b"secret")
        await workspace.run("open('mine2', 'w').write('secret')")
        async with box.session(workspace_mb=4, workspace_files=200) as other:
            assert list(await other.workspace.list()) == []
            end = await other.workspace.run("import os; print(os.listdir('.'))")
            assert end.stdout == b"[]\n"

    box.work(talk)


def test_a_profile_with_a_workspace_is_another_profile(box: Any) -> None:
    assert box.profile() != box.profile(workspace_mb=1)
    assert Profile().workspace_mb == 0
