"""The docker adapters beyond the contract: what they refuse, what they survive, what they leave."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError, VerifierFault
from rlenv.sandbox import ChannelEnded, Profile, Session
from rlenv_plugin_sandbox.docker import Docker, DockerGvisor

docker = pytest.importorskip("docker")


def connect() -> Any:
    return docker.APIClient(base_url=os.environ.get("DOCKER_HOST"), version="auto")


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    """The daemon of the tests; without one they are skipped with its reason."""
    [line, *_] = Docker().diagnose()
    if not line.ok:
        pytest.skip(line.said)
    client = connect()
    yield client
    client.close()


@pytest.fixture(params=[Docker, DockerGvisor], ids=["docker", "gvisor"])
def box(request: pytest.FixtureRequest, api: Any) -> Iterator[Docker]:
    made: Docker = request.param()
    lacking = [line.said for line in made.diagnose() if "runtime" in line.said and not line.ok]
    if lacking:
        pytest.skip(lacking[0])
    yield made
    asyncio.run(made.aclose())


def profile(**options: Any) -> Profile:
    return Profile(**{"min_isolation": "container", "wall_s": 20.0, **options})


async def end(session: Session, program: Any, **options: Any) -> Any:
    await session.start(program, {}, **options)
    return await session.finish()


def ends(box: Docker, *programs: Any, **options: Any) -> list[Any]:
    """The ends of programs that run one after another in one container."""

    async def whole() -> list[Any]:
        session = await box.open(profile(**options))
        try:
            return [await end(session, program) for program in programs]
        finally:
            await session.close()

    return asyncio.run(whole())


def ours(api: Any) -> list[str]:
    """The containers of this process."""
    label = f"/{os.getpid()}/"
    return [c["Id"] for c in api.containers() if label in c["Labels"].get("rlenv.sandbox", "")]


def until(what: Any, seconds: float = 20.0) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if what():
            return True
        time.sleep(0.05)
    return bool(what())


# -- what is rejected
# -----------------------------------------------------------------------------------


def test_a_container_is_not_enough_for_what_nobody_trusts() -> None:
    with pytest.raises(
        ConfigError, match=r"'jail' is required, and this sandbox gives 'container'.*gvisor"
    ):
        asyncio.run(Docker().open(Profile()))


def test_no_daemon_is_an_error_with_its_address_and_the_remedy(tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path}/none.sock"
    box = Docker(url=nowhere)
    with pytest.raises(ConfigError, match=r"no docker daemon answers at unix://.*DOCKER_HOST"):
        asyncio.run(box.open(profile()))

    assert [line.ok for line in box.diagnose()] == [False]


def test_a_daemon_over_tls_or_ssh_is_refused_with_the_remedy() -> None:
    with pytest.raises(ConfigError, match="sandbox/remote"):
        asyncio.run(Docker(url="ssh://somewhere").open(profile()))


def test_an_unknown_runtime_is_named(api: Any) -> None:
    with pytest.raises(ConfigError, match="register it with the daemon"):
        asyncio.run(Docker(runtime="no-such-runtime").open(profile()))


def test_a_runtime_that_is_not_gvisor_cannot_pass_as_it(api: Any) -> None:
    if "runsc-fake" not in api.info()["Runtimes"]:
        pytest.skip("the daemon has no runtime that only calls itself runsc")
    with pytest.raises(ConfigError, match="'runsc-fake' of this daemon is not gVisor"):
        asyncio.run(Docker(runtime="runsc-fake").open(profile()))


def test_an_image_that_is_not_there_is_named(api: Any) -> None:
    with pytest.raises(ConfigError, match=r"no-such-image.*pull or import it first"):
        asyncio.run(Docker(image="no-such-image").open(profile()))


def test_a_module_that_does_not_import_is_a_mistake_of_the_profile(api: Any) -> None:
    with pytest.raises(ConfigError, match=r"preload.*ZeroDivisionError"):
        asyncio.run(Docker().open(profile(preload=("bad",), files={"bad.py": b"1/0"})))


def test_plain_docker_warns_once(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    box = Docker()
    with caplog.at_level(logging.WARNING, "rlenv"):
        ends(box, "pass")
        ends(box, "pass")
    asyncio.run(box.aclose())

    assert [record.message.count("container") > 0 for record in caplog.records] == [True]


# -- images
# ----------------------------------------------------------------------------------------------


def test_an_image_of_ones_own_runs_its_own_python(api: Any) -> None:
    image = os.environ.get("RLENV_TEST_IMAGE")
    if not image:
        pytest.skip("no image for the tests: RLENV_TEST_IMAGE names none")
    box = Docker(image=image)
    program = (
        "import helper, os; print(helper.word, os.listdir('/usr'), os.path.exists('/etc/passwd'))"
    )
    [python] = ends(box, program, files={"helper.py": b"word = 1"}, preload=("json",))
    [shell] = ends(box, ["sh", "-c", "echo $((6 * 7))"], runtime="native")
    asyncio.run(box.aclose())

    assert (python.stdout, python.stderr) == (b"1 ['bin'] False\n", b"")
    assert shell.stdout == b"42\n"


# -- what programs try
# -------------------------------------------------------------------------------------


def test_the_first_process_survives_every_signal(box: Docker) -> None:
    attack = (
        "import os, signal\nfor pid in (1, 0, -1, os.getppid()):\n    for number in range(1, 65):\n"
        "        if pid in (0, -1) and number not in (17, 18, 28): continue\n"
        "        try: pid and os.kill(pid, number)\n        except OSError: pass\n"
    )
    first, second = ends(box, attack, "print('next')")

    assert first.fault is None
    assert second.stdout == b"next\n"


def test_what_is_left_in_the_file_system_never_meets_the_next_program(box: Docker) -> None:
    deep = (
        "for i in range(300):\n    os.mkdir('d'); os.chdir('d')\nopen('f',"
        " 'w').write('x')\nos.chmod('.', 0)"
    )
    odd = (
        "for name in ('a', '.b', '-c', 'ä', 'x' * 200):\n    open(name, 'w').write('x')\n"
        "os.symlink('/', 'link'); os.symlink('link', 'loop'); os.mkfifo('pipe'); os.chmod('a', 0)"
    )
    elsewhere = (
        "for place in ('/dev/mqueue', '/dev/shm', '/run'):\n    try: os.close(os.open(place +"
        " '/planted', os.O_CREAT | os.O_RDWR))\n    except OSError: pass"
    )
    plants = [f"import os\n{plant}" for plant in (deep, odd, elsewhere)]
    look = (
        "import os; print([os.path.exists(p + '/planted') for p in ('/dev/mqueue', '/dev/shm',"
        " '/run')], os.listdir('.'))"
    )
    *first, last = ends(box, *plants, look)

    assert [found.status for found in first] == [0, 0, 0]
    assert last.stdout == b"[False, False, False] []\n"


def test_a_full_disk_and_a_thousand_names_are_cleared(box: Docker) -> None:
    fill = (
        "try:\n    with open('big', 'wb') as f:\n        while True: f.write(bytes(1 <<"
        " 20))\nexcept OSError: print('full')"
    )
    names = "for i in range(1000): open(str(i), 'w').close()"
    look = "import os; open('ok', 'wb').write(bytes(1 << 20)); print(os.listdir('.'))"
    full, _, after = ends(box, fill, names, look, memory_mb=64)

    assert full.stdout == b"full\n"
    assert after.stdout == b"['ok']\n"


@pytest.mark.slow  # the processes hold their memory for ten seconds
def test_memory_of_many_processes_is_the_programs_own_fault(box: Docker) -> None:
    hog = (
        "import os, time\nfor _ in range(6):\n    if not os.fork():\n        x = [bytearray(b'1') *"
        " (1 << 20) for _ in range(200)]; time.sleep(20); os._exit(0)\ntime.sleep(10)\n"
    )
    [hogged] = ends(box, hog, memory_mb=128, wall_s=15.0)

    assert (hogged.reason, hogged.fault, hogged.started) == ("memory", None, True)
    assert ends(box, "print('next')", memory_mb=128)[0].stdout == b"next\n"


def test_a_flood_of_output_is_cut_and_costs_no_memory(box: Docker) -> None:
    flood = (
        "import os\nfor _ in range(300): os.write(1, b'x' * (1 << 20)); os.write(2, b'y' * (1 <<"
        " 16))"
    )
    [flooded] = ends(box, flood, output_bytes=1000)

    assert (flooded.status, len(flooded.stdout), len(flooded.stderr)) == (0, 1000, 1000)
    assert flooded.truncated


def test_frames_of_the_relay_cannot_be_forged(box: Docker) -> None:
    """Whatever descriptor a program writes END to, its own end is what counts."""
    forge = (
        "import os, struct\nend = struct.pack('<BI', 25, 53) + bytes(53)\n"
        "for fd in range(1, 100):\n    try: os.write(fd, end)\n    except OSError: pass\n"
        "for path in ('/proc/1/fd/1', '/proc/1/fd/65', '/dev/stdout', '/dev/pts/0'):\n"
        "    try: open(path, 'wb').write(end)\n    except OSError: pass\nos._exit(9)"
    )
    forged, after = ends(box, forge, "print('next')")

    assert (forged.status, forged.fault) == (9, None)
    assert after.stdout == b"next\n"


# -- what breaks
# ---------------------------------------------------------------------------------------------


def test_a_container_killed_in_the_middle_is_a_transient_fault(box: Docker, api: Any) -> None:
    async def whole() -> Any:
        session = await box.open(profile())
        await session.start("import os, time; os.write(3, b'\\0\\0\\0\\0'); time.sleep(30)", {})
        assert await session.recv(10, 20) == b""
        for container in ours(api):
            api.kill(container)
        with pytest.raises(ChannelEnded):
            await session.recv(10, 20)
        lost = await session.finish()
        with pytest.raises(VerifierFault):
            await session.start("pass", {})
        await session.close()
        return lost

    lost = asyncio.run(whole())
    assert (lost.reason, lost.status, lost.started) == ("lost", None, True)
    assert lost.fault.transient
    assert ends(box, "print('anew')")[0].stdout == b"anew\n"


def test_a_container_that_died_while_idle_is_replaced(box: Docker, api: Any) -> None:
    ends(box, "pass")
    for container in ours(api):
        api.kill(container)
    time.sleep(0.5)

    assert ends(box, "print('anew')")[0].stdout == b"anew\n"


def test_closing_ends_every_container(box: Docker, api: Any) -> None:
    ends(box, "pass")
    assert ours(api)
    asyncio.run(box.aclose())

    assert until(lambda: not ours(api))


JUDGE = """
import asyncio, sys
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.docker import Docker
async def main():
    session = await Docker().open(Profile(min_isolation="container"))
    await session.start("import time; time.sleep(600)")
    print("up", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


def test_a_container_does_not_outlive_its_judge(api: Any) -> None:
    judge = subprocess.Popen([sys.executable, "-c", JUDGE], stdout=subprocess.PIPE)
    assert judge.stdout is not None
    assert judge.stdout.readline() == b"up\n"
    label = f"/{judge.pid}/"

    def left() -> list[Any]:
        found = api.containers(all=True)
        return [c["Id"] for c in found if label in c["Labels"].get("rlenv.sandbox", "")]

    assert len(left()) == 1
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    judge.stdout.close()
    assert until(lambda: not left())


def test_what_a_dead_judge_left_is_removed_at_the_next_start(api: Any) -> None:
    from rlenv_plugin_sandbox.docker.engine import LABEL, Engine, owner

    boot, space, _, _ = owner().split("/")
    image = ends_image(api)
    stale = api.create_container(image, ["true"], labels={LABEL: f"{boot}/{space}/4194000/1"})["Id"]
    alive = api.create_container(image, ["true"], labels={LABEL: owner()})["Id"]
    other = api.create_container(image, ["true"], labels={LABEL: f"elsewhere/{space}/1/1"})["Id"]
    try:
        Engine().sweep()
        left = {c["Id"] for c in api.containers(all=True)}
        assert stale not in left
        assert {alive, other} <= left
    finally:
        for container in (alive, other):
            api.remove_container(container, force=True)


def ends_image(api: Any) -> str:
    """An image that is there once anything ran."""
    box = Docker()
    ends(box, "pass")
    asyncio.run(box.aclose())
    return str(api.images(filters={"label": "rlenv.sandbox=image"})[0]["Id"])


def test_many_runs_leave_nothing_behind(box: Docker, api: Any) -> None:
    async def whole() -> tuple[int, int, list[Any]]:
        others = set(ours(api))  # which the contract keeps warm in this process
        session = await box.open(profile())
        before = len(os.listdir("/proc/self/fd"))
        program = (
            "import os\nif not os.fork():\n    os.setsid()\n    import time;"
            " time.sleep(60)\nopen('f', 'w')"
        )
        found = [await end(session, program) for _ in range(40)]
        after = len(os.listdir("/proc/self/fd"))
        [container] = set(ours(api)) - others
        left = api.top(container)["Processes"]
        await session.close()
        return before, after, [left, {f.status for f in found}]

    before, after, (left, statuses) = asyncio.run(whole())
    assert statuses == {0}
    assert after < before + 20  # connections to the daemon are kept; one of each run would be 40
    assert len(left) <= 4  # the relay, what carries the run, and two that wait
