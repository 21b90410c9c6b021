"""The content of a workspace as bytes that may be forged, and the directories that programs
left.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.sandbox import Exit, Profile, WorkspaceError
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.guest import tree
from rlenv_plugin_sandbox.workspace import WorkspaceSession

PROFILE = Profile(min_isolation="process", workspace_mb=1, workspace_files=50)
WELL = Exit(0, "exit")
FULL = tree.ENTRY.pack(0, tree.FULL, 0)


def told(*entries: tuple[Any, int, bytes], end: bytes = trees.END) -> bytes:
    pieces = []
    for name, mode, content in entries:
        path = name.encode() if isinstance(name, str) else name
        pieces.append(tree.ENTRY.pack(len(path), mode, len(content)) + path + content)
    return b"".join(pieces) + end


class Place:
    """A session of an adapter whose programs leave what a test says."""

    isolation: Any = "process"
    workspace: Any = None
    given: bytes = b""

    def __init__(self, left: bytes | None, end: Exit) -> None:
        self.left = left
        self.end = end
        self.closed = 0

    def clock(self) -> float:
        return 0.5

    async def start(self, *_: Any, **__: Any) -> None: ...

    async def send(self, _: bytes) -> None: ...

    async def recv(self, *_: Any) -> bytes:
        return b""

    async def finish(self, _: float | None = None) -> Exit:
        return self.end

    async def close(self) -> None:
        self.closed += 1


def ran(left: bytes | None, end: Exit = WELL) -> tuple[Exit, list[str], Place]:
    """(how a run ended, what the workspace then holds that had one file, the place)."""
    place = Place(left, end)

    async def lease(_: Profile) -> Place:
        return place

    async def whole() -> tuple[Exit, list[str], Place]:
        session = WorkspaceSession(lease, PROFILE, "process")
        await session.workspace.write("before", b"x")
        found = await session.workspace.run("pass")
        paths = [entry.path for entry in await session.workspace.list()]
        assert session.clock() == 0.5
        await session.close()
        return found, paths, place

    return asyncio.run(whole())


def test_what_a_place_tells_becomes_the_content() -> None:
    end, paths, place = ran(told(("d", tree.FOLDER, b""), ("d/f", tree.FILE, b"new")))

    assert (end.fault, paths, place.closed) == (None, ["d", "d/f"], 1)


FORGED = {
    "nothing": b"",
    "no end": told(("a", tree.FILE, b""), end=b""),
    "cut": told(("a", tree.FILE, b"long"))[:-20],
    "more": told() + b"x",
    "two ends": told() + told(),
    "another end": tree.ENTRY.pack(0, 7, 0),
    "an end with content": tree.ENTRY.pack(0, tree.WHOLE, 1),
    "beyond": tree.ENTRY.pack(1, tree.FILE, 1 << 62) + b"a",
    "up": told(("..", tree.FILE, b"")),
    "up within": told(("d", tree.FOLDER, b""), ("d/../../etc", tree.FILE, b"")),
    "absolute": told(("/etc/passwd", tree.FILE, b"")),
    "not normal": told(("./a", tree.FILE, b"")),
    "NUL": told(("a\0b", tree.FILE, b"")),
    "no text": told((b"\xff", tree.FILE, b"")),
    "surrogate": told((b"\xed\xa0\x80", tree.FILE, b"")),
    "twice": told(("a", tree.FILE, b""), ("a", tree.FILE, b"")),
    "in nothing": told(("a/b", tree.FILE, b"")),
    "in a file": told(("a", tree.FILE, b""), ("a/b", tree.FILE, b"")),
    "in a link": told(("a", tree.LINK, b"/etc"), ("a/passwd", tree.FILE, b"")),
    "set-id": told(("a", 0o104755, b"")),
    "a device": told(("a", 0o20666, b"")),
    "no type": told(("a", 0o644, b"")),
    "a full folder": told(("a", tree.FOLDER, b"x")),
    "a link to nothing": told(("a", tree.LINK, b"")),
    "a link with NUL": told(("a", tree.LINK, b"x\0y")),
    "a link to no text": told(("a", tree.LINK, b"\xff")),
    "long": told(("n" * 1025, tree.FILE, b"")),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_content_is_a_fault_and_changes_nothing(what: str) -> None:
    end, paths, _ = ran(FORGED[what])

    assert end.fault is not None
    assert end.fault.transient
    assert paths == ["before"]


@pytest.mark.parametrize(
    "left",
    [
        FULL,
        told(("a", tree.FILE, b"x"), end=FULL),
        told(("a", tree.FILE, bytes((1 << 20) + 1))),
        told(*((f"{n}", tree.FILE, b"") for n in range(51))),
        told(
            *((f"{n}", tree.FILE, b"x" * 4097) for n in range(50)),
            *((f"l{n}", tree.LINK, b"x") for n in range(1)),
        ),
    ],
    ids=["full", "full after some", "bytes", "files", "one more"],
)
def test_more_than_fits_is_the_programs_doing(left: bytes) -> None:
    end, paths, _ = ran(left)

    assert (end.reason, end.fault, paths) == ("disk", None, ["before"])


@pytest.mark.parametrize("reason", ["exit", "signal"])
def test_content_that_does_not_come_back_is_a_fault(reason: Any) -> None:
    end, paths, _ = ran(None, Exit(0, reason))

    assert end.fault is not None
    assert paths == ["before"]


@pytest.mark.parametrize("reason", ["memory", "killed", "wall", "cpu"])
def test_a_program_that_took_its_place_down_changes_nothing(reason: Any) -> None:
    end, paths, _ = ran(None, Exit(-9, reason))

    assert (end.fault, paths) == (None, ["before"])


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_what_they_are_said_to(data: bytes) -> None:
    for text in (data, data + trees.END):
        try:
            assert trees.encode(trees.decode(text, {}, 20_000)) is not None
        except (trees.Damaged, WorkspaceError):
            continue


NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=5
)


@given(
    st.lists(
        st.tuples(st.lists(NAMES, min_size=1, max_size=4), st.binary(max_size=20), st.booleans())
    )
)
def test_content_arrives_as_it_was_and_its_id_depends_on_nothing_else(files: Sequence[Any]) -> None:
    content: trees.Tree = {}
    for parts, data, executable in files:
        try:
            content = trees.placed(content, "/".join(parts), data, executable=executable)
        except WorkspaceError:
            continue
    again = trees.decode(trees.encode(content) + trees.END, content, 20_000)

    assert again == content
    assert trees.digest(again) == trees.digest(dict(reversed(list(content.items()))))
    for path in content:
        assert trees.digest({k: v for k, v in content.items() if k != path}) != trees.digest(
            content
        )


def packed(folder: Path, most: int = 1 << 20, entries: int = 50) -> bytes:
    found = bytearray()
    tree.pack(str(folder), most, entries, found.extend)
    return bytes(found)


def test_a_directory_is_packed_and_put_back_as_it_was(tmp_path: Path) -> None:
    first = tmp_path / "first"
    second = tmp_path / "second"
    (first / "a" / "b").mkdir(parents=True)
    (first / "a" / "file").write_bytes(b"text")
    (first / "run").write_bytes(b"#!")
    (first / "run").chmod(0o700)
    (first / "link").symlink_to("a/file")
    data = packed(first)
    second.mkdir()
    for name, node in trees.decode(data, {}, 20_000).items():
        tree.put(str(second / name), node.mode, node.content)

    assert trees.decode(packed(second), {}, 20_000) == trees.decode(data, {}, 20_000)
    assert (second / "run").stat().st_mode & 0o777 == 0o755


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "odd"
    folder.mkdir()
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(folder / "socket"))
        (folder / "file").write_text("x")
        (folder / "out").symlink_to("/etc/passwd")
        yield folder


def test_what_nobody_should_open_is_not_opened(odd: Path) -> None:
    assert sorted(trees.decode(packed(odd), {}, 20_000)) == ["file", "out"]


@pytest.mark.parametrize("kind", ["link", "file", "fifo", "nothing"])
def test_a_root_that_is_no_directory_holds_nothing(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "root"
    make = {
        "link": lambda: root.symlink_to("/etc"),
        "file": root.touch,
        "fifo": lambda: os.mkfifo(root),
        "nothing": int,
    }
    make[kind]()  # type: ignore[operator]

    assert packed(root) == trees.END


def test_a_directory_that_changes_all_the_time_is_packed_whole(tmp_path: Path) -> None:
    """Without walls a program can go on; nothing raises, nothing waits, and nothing outside is
    read.
    """
    stop = threading.Event()
    target = tmp_path / "outside"
    target.write_text("canary")
    folder = tmp_path / "busy"
    (folder / "d").mkdir(parents=True)

    def change() -> None:
        spots = [folder / "a", folder / "d", folder / "d" / "b"]
        while not stop.is_set():
            for spot in spots:
                try:
                    spot.write_bytes(bytes(5000))
                    os.truncate(spot, 10)
                    spot.unlink()
                    spot.symlink_to(target)
                    spot.unlink()
                    os.mkfifo(spot)
                    spot.unlink()
                except OSError:
                    continue
            try:
                os.rename(folder / "d", folder / "e")
                (folder / "d").symlink_to(tmp_path)
                (folder / "d").unlink()
                os.rename(folder / "e", folder / "d")
            except OSError:
                continue

    writer = threading.Thread(target=change)
    often = 1e-6
    usual = sys.getswitchinterval()
    sys.setswitchinterval(often)
    writer.start()
    try:
        for _ in range(2000):
            found = trees.decode(packed(folder), {}, 20_000)
            assert all(b"canary" not in node.content for node in found.values())
    finally:
        stop.set()
        writer.join()
        sys.setswitchinterval(usual)


def test_so_many_files_that_nobody_could_read_them_end_early(tmp_path: Path) -> None:
    for n in range(2000):
        (tmp_path / f"{n}").touch()

    assert len(packed(tmp_path)) < 60 * (tree.ENTRY.size + 4)
    with pytest.raises(WorkspaceError, match="more than it may"):
        trees.decode(packed(tmp_path), {}, 20_000)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(10 << 30)

    assert packed(tmp_path) == FULL


def opened() -> list[str]:
    """Where the descriptors of this process lead, others' that are closed meanwhile left out."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return found


def test_descriptors_are_few_and_all_closed(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*("d" * 64))
    deep.mkdir(parents=True)
    assert len(trees.decode(packed(tmp_path, entries=64), {}, 20_000)) == 64
    (deep / "e").mkdir()
    assert packed(tmp_path).endswith(FULL)
    assert [target for target in opened() if target.startswith(str(tmp_path))] == []
