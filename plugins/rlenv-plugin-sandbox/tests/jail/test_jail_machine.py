"""What the jail makes of the machine: no root, few ids, control groups of both versions,
refusals.
"""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.jail import Jail, advice, cgroups, setup, slot
from rlenv_plugin_sandbox.process import Process

NOBODY = 65534
WITHOUT_ROOT = """
import asyncio, os, sys
os.setgroups([])
os.setresgid({n}, {n}, {n})
os.setresuid({n}, {n}, {n})
sys.path[:0] = {path!r}
try:
    import rlenv_plugin_sandbox.jail as jail
    from rlenv.model.errors import ConfigError
    from rlenv.sandbox import Profile
except (ImportError, OSError) as problem:
    print("skip", problem)
    sys.exit()

async def main():
    box = jail.Jail()
    try:
        session = await box.open(Profile(memory_mb=64, pids=16))
    except ConfigError as problem:
        print("skip", problem)
        return
    ends = []
    for program in (
        "import os; print(os.getpid(), os.listdir('/tmp'), os.path.exists('/proc'))",
        "x = bytearray(200 << 20)",
        "import os\\nfor _ in range(100): os.fork() or os.kill(os.getpid(), 0)",
        "open('left', 'w').close()",
        "import os; print(os.listdir('.'))",
    ):
        await session.start(program, wall_s=10.0)
        ends.append(await session.finish(5.0))
    await session.close()
    await box.aclose()
    print("tier", session.isolation)
    for end in ends:
        print(end.status != 0, end.stdout, b"MemoryError" in end.stderr)

asyncio.run(main())
"""


def test_the_jail_needs_no_root(tmp_path: Path, root: None) -> None:
    system = "/usr/bin/python3"
    if not os.access(system, os.X_OK):
        pytest.skip("no interpreter that everybody may read")
    script = tmp_path / "script.py"
    script.write_text(WITHOUT_ROOT.format(n=NOBODY, path=sys.path[1:]))
    done = subprocess.run(
        [system, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    lines = done.stdout.splitlines()
    if not lines or lines[0].startswith("skip"):
        pytest.skip(f"not here: {done.stdout or done.stderr[-300:]}")

    assert lines[0] == "tier jail", done.stderr
    assert lines[1] == "False b'1 []  False\\n' False".replace("  ", " ")
    assert lines[2] == "True b'' True"
    assert lines[3].startswith("True")
    assert lines[5] == "False b'[]\\n' False"


def test_groups_of_version_two_are_made_where_their_limits_work(tmp_path: Path) -> None:
    service = tmp_path / "user.slice/app.slice"
    own = service / "run.scope"
    own.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "user.slice", service, own):
        (folder / "cgroup.procs").write_text("")
        (folder / "cgroup.subtree_control").write_text("")
    assert cgroups._unified("/user.slice/app.slice/run.scope", tmp_path) == {}

    for enabled, more in (("memory pids", set()), ("cpu memory pids", {"cpu"})):
        (service / "cgroup.subtree_control").write_text(enabled + "\n")
        found = cgroups._unified("/user.slice/app.slice/run.scope", tmp_path)

        assert set(found) == {"memory", "pids", "cpuacct"} | more
        assert set(found.values()) == {service}


def test_a_group_has_a_share_of_the_processors_in_both_versions(tmp_path: Path) -> None:
    old = tmp_path / "old"
    new = tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    (new / "cpu.max").write_text("max 100000")
    for folder in (old, new):
        cgroups._limit_processors(folder)

    assert (new / "cpu.max").read_text() == "200000 100000"
    assert int((new / "cpu.weight").read_text()) > 100
    assert (old / "cpu.cfs_quota_us").read_text() == "200000"
    assert int((old / "cpu.shares").read_text()) > 1024


def test_programs_get_ids_that_exist_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for first, many in ((0, 4294967295), (0, 65536), (100000, 65536), (0, 1000)):
        monkeypatch.setattr(setup, "_most_ids", lambda first=first, many=many: (first, many))
        for key in (0, 1, 12345, 10**9):
            chosen = setup.unused_ids(key)
            assert first <= chosen
            assert chosen + 1 < first + many


def test_one_id_alone_is_no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "_most_ids", lambda: (0, 1))

    assert setup.privileged() is False


def test_a_refusal_names_the_step_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    switches = {"/proc/sys/user/max_user_namespaces": "0"}
    monkeypatch.setattr(
        advice, "_read", lambda path: switches.get(path, "1" if "userns_clone" in path else "")
    )
    assert "max_user_namespaces" in advice.advice(errno.ENOSPC)
    switches.clear()
    assert "container" in advice.advice(errno.EPERM)


def test_a_jail_that_is_refused_is_a_mistake_to_be_mended_not_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    guest = tmp_path / "zygote.py"
    guest.write_text(
        "import socket, sys, json\ns = socket.socket(fileno=int(sys.argv[1]))\ns.recv(16)\n"
        "s.send(json.dumps({'failed': 'LinuxError: unshare: Operation not permitted', 'errno': 1,"
        " 'step': 'namespaces'}).encode())"
    )
    monkeypatch.setattr(slot, "GUEST", guest)
    with pytest.raises(ConfigError) as caught:
        asyncio.run(Jail().open(Profile()))

    said = str(caught.value)
    assert "unshare: Operation not permitted" in said
    assert "docker" in said
    lines = Jail().diagnose()
    assert [line.ok for line in lines] == [False]
    assert "unshare" in lines[0].said


def test_a_zygote_that_dies_before_it_is_ready_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from rlenv.model.errors import VerifierFault

    guest = tmp_path / "zygote.py"
    guest.write_text("raise SystemExit(3)")
    monkeypatch.setattr(slot, "GUEST", guest)
    with pytest.raises(VerifierFault):
        asyncio.run(Jail().open(Profile()))


def test_a_limit_that_nobody_may_raise_is_told() -> None:
    made: Any = object.__new__(slot.Slot)
    made.profile = Profile(memory_mb=512)
    made._check_room(-1)
    made._check_room(4 << 30)
    with pytest.raises(ConfigError, match="ulimit"):
        made._check_room(300 << 20)


@pytest.mark.parametrize(
    ("patch", "said"),
    [("tempfile.mkdtemp", "no temporary folder"), ("os.statvfs", "mounted noexec")],
)
def test_a_folder_where_programs_cannot_run_is_told(
    patch: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a C program of a process on such a /tmp ended with 126: its own fault, by the looks
    of it.
    """

    def refused(*_: object, **__: object) -> object:
        if patch == "tempfile.mkdtemp":
            raise FileNotFoundError("no usable temporary directory")
        return SimpleNamespace(f_flag=os.ST_NOEXEC)

    monkeypatch.setattr(patch, refused)
    with pytest.raises(ConfigError, match=said):
        asyncio.run(Process().open(Profile(runtime="native", min_isolation="process")))
