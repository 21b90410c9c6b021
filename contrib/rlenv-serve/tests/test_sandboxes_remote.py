"""``rlenv serve --sandboxes`` as a server of remote sandboxes: keys, rights, turns and ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Serving, env_file, serve
from rlenv import ConfigError, VerifierFault
from rlenv.sandbox import Exit, Profile, get
from rlenv_serve.http.keys import Keys, add_key
from rlenv_serve.routes.sandboxes import routes

remote = pytest.importorskip("rlenv_plugin_sandbox.remote")

FILES = {
    "env.toml": """
name = "plain"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
[[stage]]
use = "./reward.py:one"
""",
    "tasks.jsonl": '{"prompt": "Say something."}\n',
    "reward.py": "def one(response):\n    return 1.0\n",
}
PROFILE = Profile(wall_s=60.0)


@pytest.fixture(scope="module", autouse=True)
def jail() -> None:
    """This machine has the sandbox that is served."""

    async def whole() -> None:
        session = await get("jail").open(PROFILE)
        await session.close()
        await get("jail").aclose()

    try:
        asyncio.run(whole())
    except ConfigError as problem:
        pytest.skip(f"no jail here: {problem}")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The keys of a file, by tenant, and the file."""
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    given = {
        "alice": add_key(path, "alice", answers=False, operator=False, programs=True),
        "bob": add_key(path, "bob", answers=True, operator=True),
    }
    return {**given, "file": str(path)}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, str]) -> Iterator[Serving]:
    """A server with these keys."""
    env = env_file(tmp_path_factory.mktemp("env"), FILES)
    with serve(str(env), "--sandboxes", "1:2", "--keys", keys["file"]) as serving:
        yield serving


def url(serving: Serving) -> str:
    return f"http://127.0.0.1:{serving.ask.port}"


def run(address: str, key: str, program: str) -> Exit:
    async def whole() -> Exit:
        box = remote.Remote(address, key)
        try:
            session = await box.open(PROFILE)
            await session.start(program)
            end: Exit = await session.finish()
            await session.close()
        finally:
            await box.aclose()
        return end

    return asyncio.run(whole())


def test_a_key_with_the_right_runs_programs_in_the_jail(
    served: Serving, keys: dict[str, str]
) -> None:
    end = run(url(served), keys["alice"], "print(6 * 7)")

    assert (end.stdout, end.isolation) == (b"42\n", "jail")
    (line,) = remote.Remote(url(served), keys["alice"]).diagnose()
    assert line.ok
    assert "tier jail" in line.said


@pytest.mark.parametrize(("tenant", "said"), [("bob", "--programs"), ("", "send a key")])
def test_a_key_without_the_right_runs_none(
    served: Serving, keys: dict[str, str], tenant: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        run(url(served), keys.get(tenant, ""), "print(6 * 7)")


def test_a_session_ends_with_its_server(tmp_path: Path, keys: dict[str, str]) -> None:
    env = env_file(tmp_path, FILES)
    with serve(str(env), "--sandboxes", "1:1", "--keys", keys["file"]) as serving:

        async def whole() -> Exit:
            box = remote.Remote(url(serving), keys["alice"])
            session = await box.open(PROFILE)
            await session.start("import time; time.sleep(60)")
            ending = asyncio.create_task(asyncio.to_thread(serving.end))
            # The answer ends in order, and is not cut off after the grace of requests.
            await session._stream.end_stream(time.monotonic() + 60)
            await ending
            end: Exit = await session.finish()
            await session.close()
            with pytest.raises(VerifierFault):
                await box.open(PROFILE)
            await box.aclose()
            return end

        end = asyncio.run(whole())
    assert end.reason == "lost"
    assert end.fault is not None
    assert end.fault.transient


def test_servers_of_several_processes_say_why_not() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    (route, _) = routes(None, alone=False)  # type: ignore[arg-type] # it asks the server nothing
    scope = {"type": "http", "method": "GET", "path": "/sandbox/v1", "headers": []}
    asyncio.run(route.app(scope, receive, send))  # type: ignore[attr-defined]
    assert sent[0]["status"] == 501
    assert b"--workers 1" in sent[1]["body"]


def test_without_the_option_no_sandbox_is_served(tmp_path: Path) -> None:
    env = env_file(tmp_path, FILES)
    with serve(str(env)) as serving, pytest.raises(ConfigError, match="--sandboxes"):
        run(url(serving), "", "pass")


def test_without_keys_this_machine_runs_programs(tmp_path: Path) -> None:
    env = env_file(tmp_path, FILES)
    with serve(str(env), "--sandboxes", "1:1") as serving:
        assert run(url(serving), "", "print('in')").stdout == b"in\n"


def test_a_file_of_keys_says_who_runs_programs(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    key = add_key(path, "a", answers=False, operator=False, programs=True)
    assert Keys.from_file(path).tenant({"authorization": f"Bearer {key}"}).programs
