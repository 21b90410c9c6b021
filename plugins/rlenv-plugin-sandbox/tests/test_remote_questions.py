"""What a client may ask for that knows the token and means harm."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.remote import payload
from sandbox_server import PATH, TOKEN, Server, profile, start

pytestmark = pytest.mark.usefixtures("hang_up")


# -- what may be asked for, by who knows the token
# -----------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../../../../{}", "{}", "a/../../../../{}", "./x", "", "a//b", "x\0y"]
)
@pytest.mark.parametrize("sandbox", ["process", "jail"])
def test_no_file_is_written_elsewhere(sandbox: str, name: str, tmp_path: Path) -> None:
    """A jail's files were written by root, before it left the machine's file system."""
    planted = tmp_path / "planted"
    path = name.format(str(planted)) if name == "{}" else name.format(str(planted)[1:])
    from rlenv.sandbox import get

    box = get(sandbox)
    with pytest.raises(ConfigError, match="relative path"):
        asyncio.run(box.open(Profile(files={path: b"x"}, min_isolation="process")))
    assert not planted.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runtime": "/bin/sh"}, "--allow /bin/sh"),
        ({"runtime": "touch"}, "--allow touch"),
        ({"paths": ["/etc"]}, "--allow /etc"),
        ({"paths": ["/usr/../etc"]}, "--allow"),
        ({"devices": ["/dev/mem"]}, "--allow /dev/mem"),
        ({"output_bytes": 1 << 30}, "output_bytes"),
        ({"output_bytes": 1 << 62}, "output_bytes: an integer"),
        ({"cpu_s": 1e8}, "cpu_s"),
        ({"wall_s": 1e7}, "wall_s"),
        ({"memory_mb": 1 << 30}, "memory_mb"),
        ({"memory_mb": 100.5}, "memory_mb: an integer"),
        ({"memory_mb": True}, "memory_mb: an integer"),
        ({"pids": "64"}, "pids: an integer"),
        ({"pids": 1 << 20}, "pids"),
        ({"hash_seed": -1}, "hash_seed: an integer"),
        ({"hash_seed": 1 << 32}, "hash_seed: an integer"),
        ({"preload": ["no_such_module_here"]}, "no_such_module_here"),
        ({"preload": ["../secret"]}, "preload"),
        ({"min_isolation": "strong"}, "isolation is one of"),
    ],
)
def test_too_much_is_a_mistake_of_the_profile(
    server: Server, options: dict[str, Any], said: str
) -> None:
    friend = server.friend()
    answer = friend.open(**options)

    assert (friend.status, answer["error"]) == (422, "config")
    assert said in "\n".join(answer["problems"])


@pytest.mark.parametrize("name", ["../../planted", "/tmp/planted", "a/../../planted", "a//b", ""])
def test_a_profiles_file_is_not_written_elsewhere(server: Server, name: str) -> None:
    friend = server.friend()
    answer = friend.open(b"x", files=[name])

    assert answer["error"] == "config"
    assert "relative path" in "\n".join(answer["problems"])


DEEP: Any = "deep"
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"profile": []},
        {"profile": DEEP},
        {"profile": profile(runtime="a\0b")},
        {"profile": profile(runtime=5)},
        {"profile": profile(paths=[1])},
        {"profile": profile(files=[["a"]])},
        {"profile": profile(files=["a"])},
    ],
)
def test_a_profile_that_makes_no_sense_opens_no_session(
    server: Server, header: dict[str, Any]
) -> None:
    friend = server.friend()
    body = payload.wrap(header)
    friend.stream.request("POST", f"{PATH}/sessions", body, friend.headers)
    answer = friend.stream.getresponse()

    assert answer.status == 400
    assert payload.json_object(answer.read())["error"] == "request"
    server.runs()


@pytest.mark.parametrize(
    ("what", "header", "pieces"),
    [
        ("finish", {"wait": 1}, []),
        ("start", {}, [b""]),
        ("start", start(), []),
        ("start", start(), [b""]),
        ("start", start(files=[["a", 0o644]]), [b"", b"pass"]),
        ("start", start(files=[["a", "rwx"]]), [b"", b"pass", b""]),
        ("start", start(files=[["a", 1e999]]), [b"", b"pass", b""]),
        ("start", start(files=[["n" * 70_000, 0o644]]), [b"", b"pass"]),
        ("start", start(cpu_s="x"), [b"", b"pass"]),
        ("start", start(wall_s=-5), [b"", b"pass"]),
        ("start", start(wall_s=1e999), [b"", b"pass"]),
        ("start", start(words=2), [b"", b"pass"]),
        ("start", start(words=-1), [b"", b"pass"]),
        ("start", start(words="1"), [b"", b"pass"]),
        ("recv", {"number": 1, "max_bytes": 1}, []),
        ("recv", {"number": 2, "max_bytes": 1, "timeout": 0}, []),
        ("recv", {"number": 0, "max_bytes": 1, "timeout": 0}, []),
        ("recv", {"number": "1", "max_bytes": 1, "timeout": 0}, []),
        ("recv", {"number": 1, "max_bytes": -1, "timeout": 0}, []),
        ("recv", {"number": 1, "max_bytes": 1, "timeout": "x"}, []),
        ("send", {}, []),
        ("send", {}, [b"a", b"b"]),
        ("finish", {}, []),
        ("finish", {"wait": "x"}, []),
    ],
)
def test_a_request_that_makes_no_sense_ends_its_session(
    server: Server, what: str, header: dict[str, Any], pieces: list[bytes]
) -> None:
    friend = server.friend()
    friend.open()
    if what in ("recv", "send"):
        friend.start("import time; time.sleep(60)")
    answer = friend.ask(what, header, *pieces)
    if what == "finish" and "wait" in header and header["wait"] == 1:
        assert answer["error"] == "fault"  # no program runs: a misuse of the port
        return

    assert (friend.status, answer["error"]) == (400, "request"), answer
    assert friend.has_ended()
    server.runs()


@pytest.mark.parametrize(
    "text",
    [
        b'{"number":1,"max_bytes":1,"timeout":NaN,"sizes":[]}',
        b'{"number":1,"max_bytes":1,"timeout":-Infinity,"sizes":[]}',
        b'{"number":' + b"[" * 100_000,
        b'{"number":' + b"9" * 10_000 + b',"sizes":[]}',
        b'{"sizes":[-1]}',
        b'{"sizes":[1000000000000]}',
        b'{"sizes":"abc"}',
        b'{"sizes":[true]}',
        b'{"sizes":[],"sizes":[5]}',
        b'{"x":"' + b"a" * payload.HEADER_MOST + b'","sizes":[]}',
        b"\xff\xfe",
        b"",
        b"5",
    ],
)
def test_json_that_is_no_request_is_a_bad_one(server: Server, text: bytes) -> None:
    friend = server.friend()
    friend.open()
    friend.post("recv", len(text).to_bytes(4, "little") + text)

    assert friend.status == 400
    server.runs()


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 268435457\r\n\r\n",
        b"Content-Length: 99999999999999999999999\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n10000001\r\n",
    ],
)
def test_a_body_that_is_too_long_is_not_read(server: Server, head: bytes) -> None:
    key = f"Authorization: Bearer {TOKEN}\r\n".encode()
    with server.raw() as sock:
        sock.sendall(b"POST %s/sessions HTTP/1.1\r\nHost: a\r\n%s" % (PATH.encode(), key) + head)
        if b"chunked" in head:
            with suppress(OSError):
                for _ in range(257):
                    sock.sendall(bytes(1 << 20))
        assert sock.recv(1 << 16).split()[1] in (b"413", b"400")
    server.runs()


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "x\0y", "", "a//b"])
def test_a_files_name_stays_in_the_working_directory(server: Server, name: str) -> None:
    friend = server.friend()
    friend.open()
    answer = friend.start("pass", b"x", files=[[name, 0o644]])

    assert answer["error"] == "config"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", f"{PATH}/sessions"),
        ("POST", PATH),
        ("PUT", f"{PATH}/sessions"),
        ("POST", f"{PATH}/sessions/"),
        ("POST", f"{PATH}/sessions/{'a' * 22}"),
        ("POST", f"{PATH}/sessions/{'a' * 22}/fly"),
        ("POST", f"{PATH}/sessions/../../etc/passwd"),
        ("POST", f"{PATH}/sessions/%2e%2e/start"),
        ("DELETE", f"{PATH}/sessions"),
        ("DELETE", f"{PATH}/sessions/{'a' * 22}/start"),
    ],
)
def test_what_is_no_operation_is_not_found(server: Server, method: str, path: str) -> None:
    friend = server.friend()
    friend.talk.request(method, path, b"x", friend.headers)

    assert friend.talk.getresponse().status == 404


@pytest.mark.parametrize(("method", "what"), [("POST", "/start"), ("DELETE", "")])
def test_a_session_that_does_not_exist_is_gone(server: Server, method: str, what: str) -> None:
    friend = server.friend()
    friend.talk.request(method, f"{PATH}/sessions/{'a' * 22}{what}", b"", friend.headers)

    assert friend.talk.getresponse().status == 410


def test_a_later_request_of_a_session_takes_the_place_of_one_that_waits(server: Server) -> None:
    friend = server.friend()
    friend.open()
    friend.start("import time; time.sleep(60)")
    waiting = friend.connection()
    body = payload.wrap({"number": 1, "max_bytes": 10, "timeout": 50})
    path = f"{PATH}/sessions/{friend.session}/recv"
    waiting.request("POST", path, body, friend.headers)
    time.sleep(0.1)  # it is most likely there by now; the end is the same if it is not
    assert friend.ask("finish", {"wait": 0})["exit"]["reason"] == "killed"
    first = waiting.getresponse()
    assert first.status in (400, 409, 410, 503)


def test_pipelined_requests_are_answered_one_by_one(server: Server) -> None:
    friend = server.friend()
    friend.open()
    head = (
        f"DELETE {PATH}/sessions/{friend.session} HTTP/1.1\r\nHost: a\r\n"
        f"Authorization: Bearer {TOKEN}\r\n\r\n"
    )
    with server.raw() as sock:
        sock.sendall(head.encode() * 1000)
        file = sock.makefile("rb")
        assert b" 200 " in file.readline()
        with file, suppress(OSError):
            rest = file.read()
            assert (
                b" 410 " in rest
            )  # the session is gone, and with the second answer the connection
            assert rest.count(b"HTTP/1.1 ") == 1
    server.runs()
