"""Programs that leave in a workspace what should harm whoever reads it, or the next program."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from rlenv.sandbox import Exit, Session, Workspace, WorkspaceError

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


def left(box: Any, program: str, **options: Any) -> tuple[Exit, dict[str, Any], Exit]:
    """(how it ended, what it left, how the next program ended), with a file there before."""

    async def talk(workspace: Workspace, _: Session) -> Any:
        await workspace.write("before", b"x")
        end = await workspace.run(program)
        entries = {entry.path: entry for entry in await workspace.list()}
        await workspace.snapshot()
        after = await workspace.run("import os; print(sorted(os.listdir('.')))")
        return end, entries, after

    found: tuple[Exit, dict[str, Any], Exit] = box.work(talk, **options)
    return found


SPECIAL = """
import os, socket, stat
def tried(call, *args):
    try: call(*args)
    except (OSError, PermissionError): pass
tried(os.mkfifo, "fifo")
tried(os.mknod, "node", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
tried(os.mknod, "sock", stat.S_IFSOCK | 0o666)
def bound():
    with socket.socket(socket.AF_UNIX) as sock: sock.bind("unix")
tried(bound)
for name in (b"\\xff", b"a\\xc3", b"\\xed\\xa0\\x80"): tried(lambda: open(name, "w").close())
os.mkdir(b"\\xfe"); open(b"\\xfe/inside", "w").close()
os.symlink(b"\\xff", "badlink")
os.symlink("loop", "loop")
os.symlink(".", "here")
os.symlink("..", "up")
os.mkdir("real")
os.symlink("real", "alias")
open("real/file", "w").write("y")
os.link("real/file", "hard")
open("real/set", "w").close()
os.chmod("real/set", 0o6755)
os.mkdir("sticky")
os.chmod("sticky", 0o1777)
"""


def test_what_is_no_file_directory_or_link_is_dropped_and_nothing_is_followed(box: Any) -> None:
    end, entries, after = left(box, SPECIAL)

    assert end.status == 0, end.stderr
    names = [
        "alias",
        "before",
        "hard",
        "here",
        "loop",
        "real",
        "real/file",
        "real/set",
        "sticky",
        "up",
    ]
    assert sorted(entries) == names
    assert {name for name in entries if entries[name].kind == "link"} == {
        "alias",
        "here",
        "loop",
        "up",
    }
    assert (entries["hard"].kind, entries["hard"].size) == ("file", 1)
    assert after.stdout.startswith(b"['alias', 'before', 'hard', 'here'")


def test_the_rights_to_run_as_another_do_not_stay(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> bytes:
        await workspace.run(SPECIAL)
        look = (
            "import os; print([oct(os.lstat(p).st_mode) for p in ('real/set', 'sticky', 'before')])"
        )
        await workspace.write("before", b"")
        return (await workspace.run(look)).stdout

    assert box.work(talk) == b"['0o100755', '0o40755', '0o100644']\n"


LOCKED = """
import os
os.makedirs("a/b")
open("a/b/file", "w").write("in")
open("bare", "w").write("bare")
os.mkdir("empty")
for path in ("a/b/file", "a/b", "a", "bare", "empty", "."):
    try: os.chmod(path, 0)
    except PermissionError: pass
"""


def test_what_a_program_locked_is_read_all_the_same(box: Any) -> None:
    end, entries, after = left(box, LOCKED)

    assert end.status == 0, end.stderr
    assert sorted(entries) == ["a", "a/b", "a/b/file", "bare", "before", "empty"]
    assert after.stdout == b"['a', 'bare', 'before', 'empty']\n"


TOO_MUCH = {
    "sparse": "f = open('big', 'wb'); f.truncate(100 << 20); f.close()",
    "links": "open('f', 'wb').write(bytes(1 << 20))\nfor n in range(9): os.link('f', 'f%d' % n)",
    "many": "for n in range(250): open('n%d' % n, 'w').close()",
    "folders": "for n in range(250): os.mkdir('d%d' % n)",
    "nameless": "for n in range(250): open(b'\\xff%d' % n, 'w').close()",
    "symlinks": "for n in range(250): os.symlink('x', 'l%d' % n)",
    "deep": "for n in range(100): os.mkdir('d'); os.chdir('d')",
    "long": "for n in range(8): os.mkdir('d' * 200); os.chdir('d' * 200)",
}  # fmt: skip


@pytest.mark.parametrize("what", TOO_MUCH)
def test_more_than_it_may_hold_is_the_programs_doing_and_changes_nothing(
    box: Any, what: str
) -> None:
    box.needs("kill")
    end, entries, after = left(box, f"import os\nos.remove('before')\n{TOO_MUCH[what]}")

    assert (end.reason, end.fault) == ("disk", None), end
    assert sorted(entries) == ["before"]
    assert after.stdout == b"['before']\n"


def test_a_program_is_told_when_no_room_is_left(box: Any) -> None:
    box.needs("room")
    source = "f = open('big', 'wb', buffering=0)\nfor n in range(64): f.write(bytes(1 << 20))"
    end, _, after = left(box, source)

    assert b"No space left" in end.stderr
    assert after.stdout == b"['before']\n"


def test_a_program_is_told_when_it_makes_too_many_files(box: Any) -> None:
    box.needs("entries")
    end, _, after = left(box, "for n in range(10_000): open('n%d' % n, 'w').close()")

    assert b"No space left" in end.stderr
    assert after.stdout == b"['before']\n"


GONE = {
    "emptied": "shutil.rmtree('.', ignore_errors=True)",
    "renamed": "here = os.getcwd()\ntry: os.rename(here, here + '-other')\nexcept OSError: pass",
    "replaced": (
        "here = os.getcwd(); shutil.rmtree(here, ignore_errors=True)\n"
        "try: os.symlink('/etc', here)\nexcept OSError: pass"
    ),
    "fifo": (
        "here = os.getcwd(); shutil.rmtree(here, ignore_errors=True)\n"
        "try: os.mkfifo(here)\nexcept OSError: pass"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", GONE)
def test_a_workspace_that_was_removed_or_replaced_is_empty_or_as_it_was(
    box: Any, what: str
) -> None:
    box.needs("walls")
    end, entries, after = left(box, f"import os, shutil\n{GONE[what]}")

    assert end.fault is None
    assert set(entries) <= {"before"}
    assert after.status == 0


def test_nothing_goes_on_writing_when_a_program_has_ended(box: Any) -> None:
    box.needs("kill", "walls")
    source = (
        "import os, signal, time\nif not os.fork():\n    os.setsid()\n    for number in range(1,"
        " 65):\n        try: signal.signal(number, signal.SIG_IGN)\n        except (OSError,"
        " ValueError): pass\n    while True:\n        open('log', 'a').write('x');"
        " time.sleep(0.001)\ntime.sleep(0.2)"
    )

    async def talk(workspace: Workspace, _: Session) -> None:
        assert (await workspace.run(source)).status == 0
        first = await workspace.snapshot()
        assert await workspace.read("log")
        await workspace.run("import time; time.sleep(0.3)")
        assert await workspace.snapshot() == first

    box.work(talk)


def test_a_fork_bomb_in_a_workspace_ends_and_its_files_are_kept(box: Any) -> None:
    box.needs("kill", "limits", "walls")
    bomb = (
        "import os\nopen('note', 'w').write('x')\nwhile True:\n    try: os.fork()\n    except"
        " OSError: pass\n"
    )

    async def talk(workspace: Workspace, _: Session) -> None:
        end = await workspace.run(bomb, wall_s=1.5)
        assert end.reason in {"wall", "cpu", "killed", "memory"}, end
        assert end.fault is None
        assert {entry.path for entry in await workspace.list()} <= {"note"}
        assert (await workspace.run("print('fine')")).stdout == b"fine\n"

    box.work(talk, pids=16)


def test_a_program_without_memory_harms_no_workspace(box: Any) -> None:
    box.needs("limits")
    source = (
        "import os\nopen('note', 'wb').write(bytes(3 << 20))\nheld = []\nwhile True:"
        " held.append(bytearray(os.urandom(1 << 20)))"
    )
    end, entries, after = left(box, source, memory_mb=128)

    assert (end.fault, end.status != 0) == (None, True)
    assert set(entries) in ({"before"}, {"before", "note"})
    assert after.status == 0


def test_a_full_workspace_runs_with_the_least_memory_that_it_may_have(box: Any) -> None:
    async def talk(workspace: Workspace, _: Session) -> None:
        source = "for n in range(15): open('n%d' % n, 'wb').write(bytes([n]) * (1 << 20))"
        for turn in range(3):
            end = await workspace.run(source)
            assert (end.reason, end.status, end.fault) == ("exit", 0, None), (turn, end)
        assert await workspace.read("n7") == bytes([7]) * (1 << 20)

    box.work(talk, memory_mb=128, workspace_mb=16)


def test_as_many_files_as_may_be_leave_memory_for_the_next_program(box: Any) -> None:
    """100,000 of them took the kernel more than a small profile's memory, and no program began any
    more.
    """
    box.needs("entries")
    source = "for n in range(19_990): open('n%d' % n, 'w').close()"
    end, entries, after = left(box, source, memory_mb=64, workspace_mb=8, workspace_files=20_000)

    assert (end.reason, end.fault, len(entries)) == ("exit", None, 19_991)
    assert (after.reason, after.fault) == ("exit", None)


def test_links_lead_nobody_out(box: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    source = f"import os; os.symlink({str(tmp_path)!r}, 'dir'); os.symlink({str(secret)!r}, 'file')"

    async def talk(workspace: Workspace, _: Session) -> None:
        await workspace.run(source)
        for path in ("file", "dir/secret"):
            with pytest.raises(WorkspaceError):
                await workspace.read(path)
        with pytest.raises(WorkspaceError):
            await workspace.write("dir/secret", b"overwritten")
        await workspace.write("file", b"inside")
        await workspace.run("open('file', 'a').write(' again')")
        assert await workspace.read("file") == b"inside again"

    box.work(talk)
    assert secret.read_text() == "canary"


def test_many_workspaces_at_once_do_not_mix(box: Any) -> None:
    async def one(n: int) -> bytes:
        async with box.session(workspace_mb=4, workspace_files=200) as session:
            for _ in range(3):
                end = await session.workspace.run(f"open('log', 'a').write('{n} ')")
                assert end.status == 0
            data: bytes = await session.workspace.read("log")
            return data

    async def whole() -> list[bytes]:
        return await asyncio.gather(*(one(n) for n in range(4)))

    assert asyncio.run(whole()) == [b"%d %d %d " % (n, n, n) for n in range(4)]
