"""What a program finds, what it leaves behind, and how runs coexist."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import rlenv_plugin_sandbox
from rlenv.model.errors import ConfigError
from rlenv.sandbox import TIERS, Profile, Session, rank


def test_closing_twice_is_safe(box: Any) -> None:
    async def whole() -> None:
        session = await box.sandbox.open(box.profile())
        await session.close()
        await session.close()

    asyncio.run(whole())


def test_less_isolation_than_asked_for_is_refused_with_both_tiers(box: Any) -> None:
    if rank(box.tier) + 1 == len(TIERS):
        pytest.skip("nothing is stronger")
    wanted = TIERS[rank(box.tier) + 1]
    with pytest.raises(ConfigError) as caught:
        asyncio.run(box.sandbox.open(Profile(min_isolation=wanted)))

    assert box.tier in str(caught.value)
    assert wanted in str(caught.value)


def test_every_line_of_the_diagnosis_says_something(box: Any) -> None:
    lines = list(box.sandbox.diagnose())

    assert lines
    assert all(line.what and line.said for line in lines)


def test_files_of_a_run_lie_in_its_working_directory(box: Any) -> None:
    program = (
        "from pathlib import Path as P; print(P('a.txt').read_text(), P('sub/b.txt').read_text())"
    )
    end = box.end(program, {"a.txt": b"one", "sub/b.txt": (b"two", 0o640)})

    assert end.stdout == b"one two\n"


@pytest.mark.parametrize("name", ["/etc/evil", "../evil", "a/../../evil", ""])
def test_a_file_outside_the_working_directory_is_refused(box: Any, name: str) -> None:
    with pytest.raises((ConfigError, ValueError)):
        box.end("pass", {name: b"x"})


def test_files_of_the_profile_can_be_imported(box: Any) -> None:
    end = box.end("import helper; print(helper.word)", files={"helper.py": b"word = 'found'"})

    assert end.stdout == b"found\n"


def test_a_program_is_the_main_module(box: Any) -> None:
    assert (
        box.end("print(__name__)\nif __name__ == '__main__': print('yes')").stdout
        == b"__main__\nyes\n"
    )


def test_nothing_of_one_run_meets_the_next(box: Any) -> None:
    box.needs("fresh")
    plant = (
        "import builtins, sys, os, json, random\nbuiltins.len = lambda x: 0\nsys.planted = 1\n"
        "json.loads = None\nrandom.seed(5)\nopen('left', 'w').write('x')\n"
        "os.makedirs('deep/er', exist_ok=True)\nos.chmod('deep', 0)\nos.umask(0)\n"
        "for place in ('/tmp', '/dev/shm', '/var/tmp', '/run', '/box'):\n"
        "    try: open(place + '/rlenv-planted', 'w').write('x')\n"
        "    except OSError: pass\n"
    )
    look = (
        "import sys, os, json\nprint(len('abc'), hasattr(sys, 'planted'), json.loads('1'),"
        " os.path.exists('left'), os.path.exists('deep'), [p for p in ('/tmp', '/dev/shm',"
        " '/var/tmp', '/run', '/box') if os.path.exists(p + '/rlenv-planted')])"
    )

    async def talk(session: Session) -> bytes:
        await session.start(plant, {})
        first = await session.finish()
        assert first.status == 0, first.stderr
        await session.start(look, {})
        stdout: bytes = (await session.finish()).stdout
        return stdout

    if box.name == "process":
        Path("/tmp/rlenv-planted").unlink(missing_ok=True)
    assert box.drive(talk).startswith(b"3 False 1 False False ")
    if "walls" in box.promises:
        assert box.drive(talk) == b"3 False 1 False False []\n"
    for place in ("/tmp", "/dev/shm", "/var/tmp", "/run"):
        Path(place, "rlenv-planted").unlink(missing_ok=True)


def test_runs_are_alike_in_what_should_be_random(box: Any) -> None:
    box.needs("fresh")
    program = "import random; print(random.random(), hash('text'))"

    assert box.end(program).stdout == box.end(program).stdout
    assert box.end(program).stdout != box.end(program, hash_seed=5).stdout


def test_the_environment_of_the_judge_does_not_reach_a_program(
    box: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.needs("fresh")
    end = box.end("import os; print([k for k in os.environ if 'RLENV' in k or 'KEY' in k])")

    assert "RLENV_SECRET" in os.environ
    assert end.stdout == b"[]\n"


def test_a_program_finds_its_own_modules_and_none_of_the_sandbox(box: Any) -> None:
    box.needs("fresh")
    guest = Path(rlenv_plugin_sandbox.__file__).parent / "guest"
    names = sorted(path.stem for path in guest.glob("*.py"))
    program = (
        "import importlib\nfor name in NAMES:\n    try: print(name,"
        " importlib.import_module(name).__name__)\n    except ImportError: pass\n"
    )

    assert box.end(f"NAMES = {names!r}\n{program}").stdout == b""
    own = {f"{name}.py": b"__name__ = 'mine'" for name in names}
    said = box.end(f"NAMES = {names!r}\n{program}", own).stdout
    assert said.decode().splitlines() == [f"{name} mine" for name in names]


def test_a_program_has_four_descriptors(box: Any) -> None:
    box.needs("fresh")
    program = (
        "import os\ndef there(n):\n    try: os.fstat(n)\n    except OSError: return False\n   "
        " return True\nprint([n for n in range(1024) if there(n)])"
    )

    assert box.end(program).stdout == b"[0, 1, 2, 3]\n"


LEAVES = """
import ctypes, os, signal, time
if not os.fork():
    os.setsid()
    if not os.fork():
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        ctypes.CDLL(None).prctl(15, b"NAME", 0, 0, 0)
        print("settled", flush=True)
        time.sleep(60)
    os._exit(0)
time.sleep(WAIT)
"""


@pytest.mark.parametrize("wait", [1, 60])
def test_no_descendant_outlives_its_run(box: Any, wait: int) -> None:
    box.needs("kill", "walls", "visible")
    name = f"left{os.getpid()}"[:15]

    async def talk(session: Session) -> Any:
        source = LEAVES.replace("NAME", name).replace("WAIT", str(wait))
        await session.start(source, {}, wall_s=5.0)
        end = await session.finish(2.5)
        return end, named(name)

    end, left = box.drive(talk)
    assert end.stdout == b"settled\n", end.stderr
    assert left == []


def named(name: str) -> list[str]:
    """The processes of this machine with this name."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "comm").read_text()
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            found += [folder.name] if text.strip() == name and state not in "ZX" else []
    return found


def test_a_fork_bomb_ends_and_the_next_program_runs(box: Any) -> None:
    box.needs("kill", "limits", "walls")
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"

    async def talk(session: Session) -> Any:
        await session.start(bomb, {}, wall_s=1.5)
        return await session.finish()

    end = box.drive(talk, pids=16)
    assert end.status != 0
    assert box.end("print('fine')", pids=16).stdout == b"fine\n"


def test_there_is_no_network(box: Any) -> None:
    box.needs("walls")
    program = (
        "import socket\nfor kind in (socket.AF_INET, socket.AF_INET6):\n"
        "    try:\n        s = socket.socket(kind, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 9)) "
        "if kind == socket.AF_INET else s.connect(('2001:db8::1', 9)); print('out')\n"
        "    except OSError: pass\n"
    )

    assert box.end(program).stdout == b""


def test_the_rest_of_the_machine_cannot_be_written_or_seen(box: Any, tmp_path: Path) -> None:
    box.needs("walls")
    secret = tmp_path / "secret"
    secret.write_text("canary")
    secret.chmod(0o644)
    names = ["mem", "fd/2", "fd/64", "fd/65", "root/etc/passwd"]
    if "hidden" in box.promises:
        names += ["environ", "maps", "cmdline", "fd/0"]
    program = (
        f"import os, sys\ntry: print(open({str(secret)!r}).read())\nexcept OSError: pass\nfor path"
        " in ('/usr/evil', '/etc/evil', '/box/evil', sys.prefix + '/evil'):\n    try: open(path,"
        " 'w'); print('wrote', path)\n    except OSError: pass\nfor pid in ('1',"
        f" str(os.getppid())):\n    for name in {names!r}:\n        try:"
        " open(f'/proc/{pid}/{name}', 'rb').read(16); print('read', pid, name)\n        except"
        " OSError: pass\n    try: os.kill(int(pid), 9); print('killed', pid)\n    except (OSError,"
        " ValueError): pass\n"
    )
    end = box.end(program, files={"box.txt": b"x"})

    assert b"canary" not in end.stdout
    assert b"wrote" not in end.stdout
    assert b"read" not in end.stdout
    assert box.end("print('fine')").stdout == b"fine\n"


def test_a_command_line_runs_in_its_working_directory(box: Any) -> None:
    box.needs("native")
    words = ["/bin/sh", "-c", "cat note; echo to-err >&2; read line; echo $line; exit 4"]
    end = box.end(words, {"note": b"hello\n"}, stdin=b"line\n", runtime="native")

    assert (end.status, end.stdout, end.stderr) == (4, b"hello\nline\n", b"to-err\n")


def test_a_program_that_is_not_there_is_status_127(box: Any) -> None:
    box.needs("native")
    end = box.end(["/no/such/program"], runtime="native")

    assert (end.status, end.fault) == (127, None)


def test_a_file_with_the_right_to_run_is_run(box: Any) -> None:
    box.needs("native")
    end = box.end(["./go"], {"go": (b"#!/bin/sh\necho ran\n", 0o755)}, runtime="native")

    assert end.stdout == b"ran\n"


def test_more_sessions_than_places_take_turns(box: Any) -> None:
    async def one(n: int) -> bytes:
        async with box.session() as session:
            await session.start(f"print({n} * 7)", {})
            stdout: bytes = (await session.finish()).stdout
            return stdout

    async def whole() -> list[bytes]:
        return await asyncio.gather(*(one(n) for n in range(8)))

    assert asyncio.run(whole()) == [b"%d\n" % (n * 7) for n in range(8)]


def test_the_event_loop_is_never_held_up(box: Any) -> None:
    async def whole() -> float:
        longest = 0.0
        last = time.monotonic()

        async def beat() -> None:
            nonlocal longest, last
            while True:
                await asyncio.sleep(0.01)
                longest = max(longest, time.monotonic() - last)
                last = time.monotonic()

        beats = asyncio.create_task(beat())
        async with box.session() as session:
            for _ in range(3):
                await session.start("import time; time.sleep(0.2)", {})
                await session.finish()
        beats.cancel()
        return longest

    assert asyncio.run(whole()) < 2.0


def test_two_threads_with_loops_of_their_own_share_a_sandbox(box: Any) -> None:
    said: dict[int, bytes] = {}

    def work(n: int) -> None:
        said[n] = box.end(f"print({n})").stdout

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert said == {n: b"%d\n" % n for n in range(3)}
