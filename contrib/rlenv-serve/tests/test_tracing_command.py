"""``rlenv serve --trace``: a file that processes share, and a collector."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from commands import everyday, rlenv, serve
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as wire
from serving import SECRET, until
from tracing_env import PARENT


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")  # milliseconds until spans are sent
    tasks = ({"id": f"t{n}", "prompt": f"{n}?", "answer": f"{SECRET} {n}"} for n in range(50))
    return everyday(tmp_path, *tasks)


@pytest.mark.slow  # a server of two processes writes thousands of lines
def test_two_processes_write_whole_lines_to_one_file_without_an_answer(
    env: Path, tmp_path: Path
) -> None:
    file = tmp_path / "traces.jsonl"
    shared = f"sqlite:{tmp_path}/s.sqlite"
    with serve(str(env), "--workers", "2", "--state", shared, "--trace", str(file)) as serving:
        items = [
            {"task": f"t{n}", "response": f"{SECRET} {n}" if n % 2 else "no"} for n in range(50)
        ]
        for _ in range(20):
            got = serving.ask("POST", "/v1/verify", {"environment": "everyday", "items": items})
            assert sum(each["reward"] for each in got.body["results"]) == 25
        serving.end()
    found = [json.loads(line) for line in file.read_text().splitlines()]

    assert len(found) == 20 * 50 * 2
    assert SECRET not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert {each["resource"]["attributes"]["service.name"] for each in found} == {"rlenv"}
    roots = [each for each in found if each["name"] == "verdict"]
    assert sum(each["attributes"]["rlenv.reward"] for each in roots) == 20 * 25
    spans = {each["context"]["span_id"] for each in roots}
    assert {each["parent_id"] for each in found if each["name"] != "verdict"} == spans


def test_what_was_written_before_a_kill_is_whole(env: Path, tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    with serve(str(env), "--trace", str(file)) as serving:
        body = {"environment": "everyday", "items": [{"task": "t0", "response": "x"}]}
        until(lambda: serving.ask("POST", "/v1/verify", body).status == 200 and file.stat().st_size)
        serving.process.kill()
    text = file.read_text()

    assert text.endswith("\n")
    assert all(json.loads(line)["name"] for line in text.splitlines())
    assert SECRET not in text
    assert file.stat().st_mode & 0o777 == 0o600


class Collector(BaseHTTPRequestHandler):
    """Takes what OTLP over HTTP brings, in protobuf."""

    taken: ClassVar[list[wire.ExportTraceServiceRequest]] = []

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        assert self.headers["Content-Type"] == "application/x-protobuf"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append(wire.ExportTraceServiceRequest.FromString(body))
        answer = wire.ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collecting() -> Iterator[str]:
    """The URL of a collector, until the block ends."""
    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{collector.server_port}"
    finally:
        collector.shutdown()
        collector.server_close()


def test_a_collector_is_sent_the_protocol_that_its_variables_say(env: Path) -> None:
    with (
        collecting() as url,
        serve(
            str(env),
            "--trace",
            "otlp",
            OTEL_EXPORTER_OTLP_ENDPOINT=url,
            OTEL_SERVICE_NAME="judges",
            OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test",
        ) as serving,
    ):
        body = {"environment": "everyday", "items": [{"task": "t0", "response": f"{SECRET} 0"}]}
        assert serving.ask("POST", "/v1/verify", body, traceparent=PARENT).status == 200
        serving.end()
    spans = [
        span
        for request in Collector.taken
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    resource = Collector.taken[0].resource_spans[0].resource.attributes
    told = {each.key: each.value.string_value for each in resource}

    assert {each.name for each in spans} == {"verdict", "stage equal"}
    assert {each.trace_id.hex() for each in spans} == {PARENT.split("-")[1]}
    assert (told["service.name"], told["deployment.environment.name"]) == ("judges", "test")
    assert all(SECRET.encode() not in each.SerializeToString() for each in Collector.taken)


def test_a_collector_that_does_not_answer_holds_up_neither_answers_nor_the_end(env: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and says nothing
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with serve(str(env), "--trace", "otlp", OTEL_EXPORTER_OTLP_ENDPOINT=url) as serving:
            body = {"environment": "everyday", "items": [{"task": "t0", "response": "x"}]}
            for _ in range(50):
                assert serving.ask("POST", "/v1/verify", body).status == 200
            serving.end()


def test_a_trace_that_cannot_be_written_says_why_at_the_start(env: Path, tmp_path: Path) -> None:
    ran = rlenv("serve", str(env), "--trace", str(tmp_path / "no" / "file"))

    assert ran.returncode == 2, ran
    assert "No such file" in ran.stderr


def test_without_the_packages_the_extra_is_named(env: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None; from rlenv.__main__ import main; main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "serve", str(env), "--trace", str(tmp_path / "file")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 2, ran
    assert "rlenv-serve[opentelemetry]" in ran.stderr
