"""Landlock: processes that leave themselves a part of the file system, and then try the rest."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

TRIES = """
def read(path):
    with open(path) as file: return file.read()
def write(path):
    with open(path, "w") as file: return file.write("mine")
"""


@pytest.fixture(params=(1, 4, 7))
def version(request: pytest.FixtureRequest, guest: SimpleNamespace) -> int:
    """Several ABIs, as far as this kernel has them: an older one is a part of a newer one."""
    wanted: int = request.param
    if wanted > guest.landlock.abi():
        pytest.skip(f"this kernel has ABI {guest.landlock.abi()} of Landlock")
    return wanted


@pytest.fixture
def tree() -> Iterator[Path]:
    """open/ with file "a", mine/, shut/ with file "secret"; all may be reached by their modes."""
    with TemporaryDirectory(dir="/tmp") as name:
        top = Path(name)
        top.chmod(0o755)
        for folder in ("open", "mine", "shut"):
            (top / folder).mkdir()
            (top / folder).chmod(0o777)
        for path in (top / "open" / "a", top / "shut" / "secret"):
            path.write_text(path.name)
            path.chmod(0o666)
        yield top


def confined(locked: Any, tree: Path, then: str, version: int, **options: Any) -> Any:
    told = locked(
        TRIES + f"tree = {str(tree)!r}\n" + then,
        version=version,
        read=(str(tree / "open"),),
        write=(str(tree / "mine"),),
        **options,
    )
    assert told.status == 0, told
    return told.only


def test_rights_grow_with_the_version(guest: SimpleNamespace) -> None:
    before = (0, 0, 0)
    for version in range(1, 12):
        now = guest.landlock.handled(version)
        assert all(old & new == old for old, new in zip(before, now, strict=True))
        before = now
    assert before == (0xFFFF, 3, 3)


def test_what_is_not_named_is_shut(locked: Any, tree: Path, version: int, user: int) -> None:
    then = """
tell([attempt(lambda: read(tree + "/shut/secret")), attempt(lambda: os.listdir(tree + "/shut")),
      attempt(lambda: write(tree + "/shut/new")), attempt(lambda: os.unlink(tree + "/shut/secret")),
      attempt(lambda: os.listdir(tree)), attempt(lambda: read("/etc/passwd"))])
"""
    assert confined(locked, tree, then, version, user=user) == ["EACCES"] * 6


def test_what_is_to_be_read_is_not_written(locked: Any, tree: Path, version: int) -> None:
    then = """
tell(
    [
        attempt(lambda: read(tree + "/open/a")),
        attempt(lambda: os.listdir(tree + "/open")),
        attempt(lambda: write(tree + "/open/a")),
        attempt(lambda: write(tree + "/open/b")),
        attempt(lambda: os.unlink(tree + "/open/a")),
        attempt(lambda: os.mkdir(tree + "/open/c")),
        attempt(lambda: os.mkfifo(tree + "/open/d")),
        attempt(lambda: os.symlink("a", tree + "/open/e")),
    ]
)
"""
    done = ["done: 'a'", "done: ['a']"]
    assert confined(locked, tree, then, version) == [*done, *["EACCES"] * 6]


def test_the_working_directory_is_free(locked: Any, tree: Path, version: int, user: int) -> None:
    then = """
os.chdir(tree + "/mine")
write("f"); os.mkdir("d"); os.rename("f", "g"); os.symlink("g", "s"); os.mkfifo("p")
os.truncate("g", 2); os.chmod("g", 0o755); os.link("g", "h"); os.unlink("h")
tell([read("g"), sorted(os.listdir(".")), attempt(lambda: read("../shut/secret"))])
"""
    found = confined(locked, tree, then, version, user=user)
    assert found == ["mi", ["d", "g", "p", "s"], "EACCES"]


def test_a_link_leads_nowhere_else(locked: Any, tree: Path, version: int) -> None:
    (tree / "mine" / "out").symlink_to(tree / "shut" / "secret")
    then = """
tell(
    [
        attempt(lambda: read(tree + "/mine/out")),
        attempt(lambda: os.link(tree + "/shut/secret", tree + "/mine/in")),
        attempt(lambda: os.rename(tree + "/shut/secret", tree + "/mine/in")),
    ]
)
"""
    found = confined(locked, tree, then, version)
    assert found[0] == "EACCES"
    assert set(found[1:]) <= {"EACCES", "EXDEV"}


def test_truncation_is_writing(locked: Any, tree: Path, version: int) -> None:
    if version < 3:
        pytest.skip("taken away from ABI 3 on")
    then = 'tell(attempt(lambda: os.truncate(tree + "/open/a", 0)))'
    assert confined(locked, tree, then, version) == "EACCES"


def test_tcp_is_gone(locked: Any, tree: Path, version: int, user: int) -> None:
    if version < 4:
        pytest.skip("taken away from ABI 4 on")
    with socket.create_server(("127.0.0.1", 0)) as server:
        then = f"""
tell([attempt(lambda: socket.socket().connect({server.getsockname()!r})),
      attempt(lambda: socket.socket().bind(("127.0.0.1", 0)))])
"""
        assert confined(locked, tree, then, version, user=user) == ["EACCES", "EACCES"]


def test_abstract_sockets_and_signals_stay_inside(locked: Any, tree: Path, version: int) -> None:
    if version < 6:
        pytest.skip("taken away from ABI 6 on")
    name = f"\0rlenv-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        then = f"""
def connect():
    with socket.socket(socket.AF_UNIX) as client: client.connect({name!r})
outside = [attempt(connect), attempt(lambda: os.kill({os.getpid()}, 0))]
pid = os.fork()
if not pid: signal.pause()
os.kill(pid, 9)
tell([*outside, os.waitpid(pid, 0)[1]])
"""
        assert confined(locked, tree, then, version) == ["EPERM", "EPERM", 9]


def test_children_are_under_it_and_it_only_narrows(locked: Any, tree: Path, version: int) -> None:
    then = f"""
restrict(["/"], ["/"], {version})
pid = os.fork()
if not pid:
    os._exit(attempt(lambda: read(tree + "/shut/secret")) != "EACCES")
tell([attempt(lambda: read(tree + "/shut/secret")), os.waitpid(pid, 0)[1]])
"""
    assert confined(locked, tree, then, version) == ["EACCES", 0]


def test_a_rule_may_name_a_file(locked: Any, tree: Path, version: int) -> None:
    told = locked(
        TRIES + f"tell(read({str(tree / 'open' / 'a')!r}))\ntell(attempt(lambda:"
        f" os.listdir({str(tree)!r})))",
        version=version,
        read=(str(tree / "open" / "a"),),
    )
    assert told.said == ["a", "EACCES"]


def test_a_path_that_is_missing_is_an_error_and_leaves_nothing_open(locked: Any) -> None:
    then = """
before = os.dup(0)
said = attempt(lambda: restrict(["/nowhere"], [], landlock.abi()))
after = os.dup(0)
tell([said, after - before])
"""
    assert locked(then).only == ["ENOENT", 1]


def test_a_mount_made_later_is_under_the_rules_of_its_parents(locked: Any, tree: Path) -> None:
    """Why the rule of a run's own file system is made after it is mounted."""
    if os.getuid():
        pytest.skip("only root mounts")
    before = f"""
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
tree = {str(tree)!r}
rules = landlock.ruleset([], [tree + "/mine"], landlock.abi())
linux.mount("later", tree + "/mine", "tmpfs")
linux.no_new_privileges()
landlock.enforce(rules, landlock.abi())
"""
    then = TRIES + 'tell(attempt(lambda: write(tree + "/mine/f")))'
    told = locked(then, before=before)
    if "Operation not permitted" in told.errors:
        pytest.skip("no mounts here")
    assert told.only == "EACCES", told
