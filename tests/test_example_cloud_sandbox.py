"""examples/cloud_sandbox: machines that a cloud makes, against a service that speaks its REST."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fly import APP, KEY, Fly, service
from rlenv import ConfigError, Environment, Task, VerifierFault, stage
from rlenv.sandbox import Profile, Session, Workspace

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples/cloud_sandbox"
sys.path.append(str(EXAMPLE))
from fly_sandbox import rlenv_parts  # noqa: E402 - found by the line above
from fly_sandbox.machine import FlyMachine  # noqa: E402

PROFILE = Profile(min_isolation="process")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.fixture
def fly(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fly]:
    """The service, and its key in the environment."""
    monkeypatch.setenv("FLY_API_TOKEN", KEY)
    with service(free_port()) as made:
        yield made


def machine(fly: Fly, image: str = "rlenv", **options: Any) -> FlyMachine:
    return FlyMachine(APP, image, url=fly.url, port=fly.port, **{"start_s": 60.0, **options})


async def printed(box: FlyMachine, program: str = "print(6 * 7)") -> bytes:
    session = await box.open(PROFILE)
    try:
        await session.start(program)
        end = await session.finish()
        return end.stdout
    finally:
        await session.close()


def used(box: FlyMachine, work: Callable[[FlyMachine], Any]) -> Any:
    """What ``work`` returns; the sandbox is closed after it."""

    async def whole() -> Any:
        try:
            return await work(box)
        finally:
            await box.aclose()

    return asyncio.run(whole())


# -- a machine


def test_the_distribution_names_its_sandbox() -> None:
    assert rlenv_parts() == {"sandbox": {"machine": "fly_sandbox.machine:FlyMachine"}}


def test_a_program_runs_in_a_machine_that_is_made_for_it_and_removed_after(fly: Fly) -> None:
    assert used(machine(fly), printed) == b"42\n"
    assert len(fly.machines) == 1
    assert fly.alive == []


def test_sessions_share_one_machine_whoever_comes_first(fly: Fly) -> None:
    async def many(box: FlyMachine) -> list[bytes]:
        return await asyncio.gather(*(printed(box, f"print({n})") for n in range(5)))

    assert used(machine(fly), many) == [b"%d\n" % n for n in range(5)]
    assert len(fly.machines) == 1


def test_a_workspace_is_on_the_trusted_side(fly: Fly) -> None:
    async def work(box: FlyMachine) -> bytes:
        asked = Profile(min_isolation="process", workspace_mb=1)
        session: Session = await box.open(asked)
        workspace: Workspace = session.workspace
        await workspace.run("open('made', 'w').write('kept')")
        fly.ended(fly.alive[0])
        return await workspace.read("made")

    assert used(machine(fly), work) == b"kept"


def test_each_machine_has_a_token_of_its_own_and_never_the_key(fly: Fly) -> None:
    for _ in range(2):
        used(machine(fly), printed)
    tokens = {each["config"]["env"]["RLENV_SANDBOX_TOKEN"] for each in fly.machines.values()}

    assert len(tokens) == 2
    assert all(len(token) > 40 for token in tokens)
    assert KEY not in str(fly.machines)


# -- trouble


@pytest.mark.parametrize(
    "trouble",
    [
        [("POST", "429"), ("POST", "503"), ("POST", "500")],
        [("POST", "after 500")],
        [("POST", "after 504"), ("GET", "502")],
        [("GET", "503"), ("GET", "429"), ("GET", "408")],
    ],
)
def test_trouble_of_the_service_is_waited_for_and_makes_one_machine(
    fly: Fly, trouble: list[tuple[str, str]]
) -> None:
    fly.trouble = list(trouble)

    assert used(machine(fly), printed) == b"42\n"
    assert fly.trouble == []
    assert len(fly.machines) == 1
    assert fly.alive == []


@pytest.mark.parametrize(
    ("image", "seconds", "said"),
    [
        ("broken", 60.0, "failed.*manifest unknown"),
        ("slow", 1.0, "starting|created"),
        ("silent", 8.0, "does not listen"),
    ],
)
def test_a_machine_that_does_not_start_is_a_transient_fault_and_is_removed(
    fly: Fly, image: str, seconds: float, said: str
) -> None:
    with pytest.raises(VerifierFault, match=said) as raised:
        used(machine(fly, image, start_s=seconds), printed)

    assert (raised.value.fault.kind, raised.value.fault.transient) == ("unavailable", True)
    assert fly.alive == []


@pytest.mark.parametrize("said", [None, [], {}, {"id": 5, "private_ip": "x"}, {"id": "../x"}])
def test_a_service_that_answers_nonsense_is_a_transient_fault(
    fly: Fly, monkeypatch: pytest.MonkeyPatch, said: object
) -> None:
    monkeypatch.setattr(fly, "made", lambda _: said)
    with pytest.raises(VerifierFault):
        used(machine(fly, start_s=1.0), printed)


def test_a_machine_that_is_lost_is_replaced(fly: Fly) -> None:
    async def work(box: FlyMachine) -> bytes:
        await printed(box)
        fly.ended(fly.alive[0])
        with pytest.raises(VerifierFault):
            await printed(box)
        return await printed(box)

    assert used(machine(fly), work) == b"42\n"
    assert len(fly.machines) == 2
    assert fly.alive == []


def test_a_service_that_is_away_is_a_transient_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLY_API_TOKEN", KEY)
    box = FlyMachine(APP, "rlenv", url=f"http://127.0.0.1:{free_port()}", start_s=0.5)
    with pytest.raises(VerifierFault) as raised:
        used(box, printed)
    assert raised.value.fault.transient
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("app", "key", "said"),
    [(APP, "", "set FLY_API_TOKEN"), (APP, "wrong-key", "does not accept"), ("other", KEY, "404")],
)
def test_a_mistake_of_the_operator_is_a_configuration_error(
    fly: Fly, monkeypatch: pytest.MonkeyPatch, app: str, key: str, said: str
) -> None:
    monkeypatch.setenv("FLY_API_TOKEN", key)
    box = FlyMachine(app, "rlenv", url=fly.url, port=fly.port)
    with pytest.raises(ConfigError, match=said) as raised:
        used(box, printed)
    assert not key or key not in str(raised.value)
    assert [each.ok for each in box.diagnose()] == [False]


@pytest.mark.parametrize(
    "options", [{"app": "../apps"}, {"app": ""}, {"cpus": 0}, {"start_s": -1.0}]
)
def test_a_setting_that_makes_no_sense_is_a_configuration_error(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        FlyMachine(**{"app": APP, "image": "rlenv", **options})


# -- verdicts


def verdict(box: FlyMachine) -> Any:
    """The verdict of a stage that runs the response."""

    @stage(where="caller")
    async def run(response: str) -> float:
        return float(await printed(box, response) == b"42\n")

    with Environment("cloud", run, [Task("print 42", id="t")]) as env:
        return used(box, lambda _: env.aevaluate(env.tasks.by_id("t"), "print(42)"))


def test_a_program_that_is_right_is_paid(fly: Fly) -> None:
    assert verdict(machine(fly)).value == 1.0


def test_a_machine_that_fails_leaves_the_response_unscored_and_tells_no_key(
    fly: Fly, caplog: pytest.LogCaptureFixture
) -> None:
    fly.trouble = [("POST", "500")]
    found = verdict(machine(fly, "broken"))

    assert found.value is None
    assert found.fault.kind == "unavailable"
    tokens = [each["config"]["env"]["RLENV_SANDBOX_TOKEN"] for each in fly.machines.values()]
    for secret in (KEY, *tokens):
        assert secret not in str(found) + repr(found) + caplog.text
    assert "manifest unknown" in str(found)


# -- the contract


@pytest.mark.slow  # the whole contract suite of the sandboxes, a minute
def test_it_keeps_the_contract_of_sandboxes() -> None:
    suite = ROOT / "plugins/rlenv-plugin-sandbox/tests/contract"
    environment = {**os.environ, "RLENV_TEST_SANDBOX": "contract_fly"}
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(suite),
    ]
    ran = subprocess.run(
        words, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout[-3000:]
    last = ran.stdout.splitlines()[-1]
    assert int(last.partition(" passed")[0].split()[-1]) > 100, ran.stdout[-3000:]
