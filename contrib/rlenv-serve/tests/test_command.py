"""``rlenv serve``, as a person types it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest
from commands import everyday, rlenv, serve, within
from serving import Answered, Client


@pytest.fixture
def env(tmp_path: Path) -> Path:
    return everyday(tmp_path, {"id": "a", "prompt": "1 + 1?", "answer": "2"})


def test_it_serves_until_it_is_asked_to_end(env: Path) -> None:
    with serve(f"mine={env}", "--limit", "body=200") as serving:
        ask = serving.ask
        assert ask("GET", "/readyz").body == {"status": "ready", "environments": ["mine"]}
        begun = ask("POST", "/episodes", {"task_id": "a", "agent_id": "me"}).body
        path = f"/episodes/{begun['episode_id']}/steps"
        answer = {"action": "submit", "answer": "2"}
        assert ask("POST", path, answer).body["reward"] == 1.0
        assert ask("POST", "/episodes", {"task_id": "a" * 300}).status == 413
        assert b"rlenv_requests_total" in ask("GET", "/metrics").body
        serving.end()


def test_who_watches_trajectories_is_told_of_the_end(env: Path) -> None:
    with serve(str(env)) as serving:
        link = HTTPConnection("127.0.0.1", serving.ask.port, timeout=60)
        with closing(link):
            link.request("GET", "/trajectories/watch")
            stream = link.getresponse()
            assert stream.readline() == b": ping\n"
            serving.end()
            stream.read()  # raises where it is cut off, as it is when the grace is over


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name an environment"),
        (("ENV", "--host", "0.0.0.0"), "--keys"),
        (("ENV", "--state", "nothing"), "no store"),
        (("ENV", "--limit", "bodi=3"), "body"),
        (("ENV", "--sandboxes", "3:2"), "expected MIN:MAX or N"),
        (("ENV", "--limit", "body=x"), "NAME=NUMBER"),
        (("ENV", "--limit", "body=0"), "body"),
        (("ENV", "--workers", "2"), "--state sqlite:PATH"),
        (("episodes=ENV",), "another name"),
        (("ENV", "--keys", "missing.toml"), "missing.toml"),
        (("ENV", "--new-key", "alice"), "--keys FILE"),
    ],
)
def test_what_cannot_be_served_says_why(env: Path, arguments: tuple[str, ...], says: str) -> None:
    ran = within("serve", *(each.replace("ENV", str(env)) for each in arguments))

    assert ran.exit_code == 2, ran
    assert says in ran.stderr


def test_a_new_key_is_printed_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    ran = rlenv("serve", "--new-key", "alice", "--keys", str(file), "--operator")

    assert ran.returncode == 0, ran
    assert ran.stdout.strip().startswith("rlenv_")
    assert ran.stdout.strip() not in file.read_text()
    assert os.stat(file).st_mode & 0o077 == 0


def test_workers_share_episodes_and_one_that_is_killed_is_replaced(
    env: Path, tmp_path: Path
) -> None:
    state = f"sqlite:{tmp_path}/s.sqlite"
    answer = {"action": "submit", "answer": "2"}
    with serve(str(env), "--workers", "2", "--state", state) as serving:
        ask = serving.ask
        pid = serving.process.pid
        for number in range(20):
            if number == 8:
                children = subprocess.run(
                    ["pgrep", "-P", str(pid)], capture_output=True, text=True, check=True
                ).stdout.split()
                os.kill(int(children[0]), signal.SIGKILL)
            key = f"k{number}"
            begun = patient(ask, "POST", "/episodes", {"task_id": "a"}, Idempotency_Key=key).body
            path = f"/episodes/{begun['episode_id']}"
            got = patient(ask, "POST", f"{path}/steps", answer, Idempotency_Key=key)
            assert got.body["reward"] == 1.0
            assert patient(ask, "GET", f"{path}/reward").body["reward"] == 1.0
        serving.end()
    for child in children:
        assert not Path(f"/proc/{child}").exists()


TWO = pytest.mark.slow  # three processes start


@pytest.mark.parametrize("workers", [(), pytest.param(("--workers", "2"), marks=TWO)])
def test_a_server_whose_terminal_closes_ends_in_order(
    env: Path, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    with serve(str(env), *workers, "--state", f"sqlite:{tmp_path}/s.sqlite") as serving:
        assert serving.ask("POST", "/episodes", {"task_id": "a"}).status == 201
        serving.process.send_signal(signal.SIGHUP)
        said = serving.process.communicate(timeout=60)[1]
        assert (serving.process.returncode, "Traceback" in said) == (0, False), said


def patient(ask: Client, *asked: object, **headers: str) -> Answered:
    """Ask again where the process that took the request was killed."""
    for _ in range(150):
        try:
            return ask(*asked, **headers)  # type: ignore[arg-type] # as given
        except (OSError, HTTPException):
            time.sleep(0.2)
    return ask(*asked, **headers)  # type: ignore[arg-type] # as above


def test_a_port_that_is_taken_is_status_1(env: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = rlenv("serve", str(env), "--port", str(taken.getsockname()[1]))

    assert ran.returncode == 1
    assert "another --port" in ran.stderr
