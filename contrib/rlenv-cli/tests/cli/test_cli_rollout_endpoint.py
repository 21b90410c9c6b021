"""`rlenv rollout --policy URL`: a server that answers, one that is broken, and one that dies in the
middle.
"""

import json
import subprocess
import sys

import pytest
from rlenv_plugin_agent.clients import server as client

SERVER = """
import json, os, re, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Peru": "Lima"}
count, dies_after, long = 0, int(sys.argv[1]), sys.argv[2]


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        count += 1
        if count > dies_after:
            os._exit(1)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open("asked.jsonl", "a") as log:
            log.write(json.dumps([self.path, self.headers.get("Authorization"), body]) + "\\n")
        country = re.search("of (.*)[?]", body["messages"][0]["content"])[1]
        message = {"role": "assistant", "content": CAPITALS.get(country, "?")}
        status, reply = 200, {"choices": [{"message": message}]}
        if country == long:
            error = {"message": "This model's maximum context length is 16 tokens."}
            status, reply = 400, {"error": error}
        elif body.get("return_token_ids"):
            told = {"content": [{"token": "token_id:7", "logprob": -0.5}]}
            reply["choices"][0] |= {"token_ids": [7], "logprobs": told}
            usage = {"prompt_tokens": 2, "completion_tokens": 1}
            reply |= {"prompt_token_ids": [1, 2], "usage": usage}
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@pytest.fixture
def model(world):
    """Starts a server; its address."""
    started = []

    def start(dies_after=1 << 30, long=""):
        argv = [sys.executable, "-c", SERVER, str(dies_after), long]
        process = subprocess.Popen(argv, cwd=world.folder, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def ask(world, rlenv, monkeypatch):
    monkeypatch.setattr(client, "PAUSE", 0.001)

    def run(url, *args):
        return rlenv("rollout", "env.toml", "--policy", url, "--model", "m", "-o", "o.jsonl", *args)

    return run


def asked(world):
    return [json.loads(line) for line in (world.folder / "asked.jsonl").read_text().splitlines()]


def test_a_model_is_asked_with_a_seed_of_its_own_for_each_rollout(world, model, ask, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    result = ask(model(), "-n", "3", "--sampling", "temperature=0.5", "--key-env", "MY_KEY")
    requests = asked(world)

    assert result.exit_code == 0, result.output
    assert {row["reward"] for row in world.read()[1]} == {1.0}
    assert {(path, key) for path, key, _ in requests} == {
        ("/v1/chat/completions", "Bearer secret-key")
    }
    assert {(body["model"], body["temperature"]) for _, _, body in requests} == {("m", 0.5)}
    assert len({body["seed"] for _, _, body in requests}) == 12
    assert {body["seed"] for _, _, body in requests} == {row["seed"] for row in world.read()[1]}
    assert "secret-key" not in (world.folder / "o.jsonl").read_text()


def test_a_server_is_asked_for_token_ids(world, model, ask):
    assert ask(model(), "--token-ids").exit_code == 0
    call = {"prompt_ids": [1, 2], "ids": [7], "logprobs": [-0.5], "exact": True}
    assert [row["tokens"]["calls"] for row in world.read()[1]] == [[call]] * 4
    assert {row["tokens"]["exact"] for row in world.read()[1]} == {True}
    assert ask(model(), "--overwrite").exit_code == 0
    assert [row["tokens"]["calls"] for row in world.read()[1]] == [[]] * 4


def test_a_row_is_exact_only_if_every_call_is(world, model, ask, monkeypatch):
    monkeypatch.setattr(
        sys.modules[__name__], "SERVER", SERVER.replace('"prompt_tokens": 2', '"prompt_tokens": 3')
    )
    assert ask(model(), "--token-ids").exit_code == 0
    tokens = [row["tokens"] for row in world.read()[1]]

    assert [[each["exact"] for each in row["calls"]] for row in tokens] == [[False]] * 4
    assert {row["exact"] for row in tokens} == {False}


def test_the_environment_s_sampling_is_used_and_the_command_line_wins(world, model, ask):
    world.write_env(
        '[config.sampling]\ntemperature = 0.1\ntop_p = 0.9\n\n[[stage]]\nuse = "core/equal"\n'
    )
    assert ask(model(), "--sampling", "temperature=0.5").exit_code == 0
    assert {(body["temperature"], body["top_p"]) for _, _, body in asked(world)} == {(0.5, 0.9)}


def test_a_server_that_dies_in_the_middle_costs_no_reward_and_resume_goes_on(world, model, ask):
    world.write_tasks([("France", "Paris")] * 40)
    url = model(dies_after=10)
    first = ask(url, "--concurrent", "4")
    rows = world.read()[1]
    again = ask(url, "--resume", "--concurrent", "4")
    same = world.read()[1]
    moved = ask(model(), "--resume")

    assert first.exit_code == 3
    assert 0 < len(rows) <= 10
    assert {row["reward"] for row in rows} == {1.0}
    assert "the policy failed in" in first.stderr
    assert "/v1/chat/completions" in first.stderr
    assert "after so many failures in a row no others were begun" in first.stderr
    assert again.exit_code == 3
    assert same == rows
    assert moved.exit_code == 0, moved.output
    assert world.read()[1][: len(rows)] == rows
    assert sorted(row["task"] for row in world.read()[1]) == sorted(f"t{n}" for n in range(40))


def test_a_context_that_is_too_short_ends_the_episode(world, model, ask):
    result = ask(model(long="Peru"))
    stops = {row["task"]: (row["stop"], row["reward"]) for row in world.read()[1]}

    assert result.exit_code == 0, result.output
    assert stops == {
        "t0": ("passed", 1.0),
        "t1": ("passed", 1.0),
        "t2": ("passed", 1.0),
        "t3": ("context", 0.0),
    }


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--policy", "http://127.0.0.1:1/v1"], "--model NAME is needed"),
        (["--policy", "http://", "--model", "m"], "url is an address"),
        (["--policy", "http://me:pw@127.0.0.1:1/v1", "--model", "m"], "key_env"),
        (
            ["--policy", "http://127.0.0.1:1/v1", "--model", "m", "--key-env", "NOT_SET_HERE"],
            "NOT_SET_HERE",
        ),
        (
            ["--policy", "http://127.0.0.1:1/v1", "--model", "m", "--sampling", "messages=1"],
            "messages",
        ),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_named(world, rlenv, args, why):
    result = rlenv("rollout", "env.toml", "-o", "o.jsonl", *args)

    assert result.exit_code == 2, result.output
    assert why in result.stderr
    assert "pw" not in result.stderr


def test_a_missing_plugin_says_how_to_install_it(world, rlenv, monkeypatch):
    from rlenv_cli import needed

    monkeypatch.setattr(needed, "find_spec", lambda name: None)
    for args in (["rollout", "env.toml", "--policy", "a:b", "-o", "o"], ["play", "env.toml"]):
        result = rlenv(*args)
        assert result.exit_code == 2
        assert "pip install ./plugins/rlenv-plugin-agent" in result.stderr
