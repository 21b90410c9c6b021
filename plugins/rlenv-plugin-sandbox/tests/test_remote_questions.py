"""What a client may ask for that knows the token and means harm."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.remote import greeting, payload
from sandbox_server import Server, profile, start

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
    answer = friend.asked({"do": "open", "profile": profile(**options)})
    friend.sock.close()

    assert answer["error"] == "config"
    assert said in "\n".join(answer["problems"])


@pytest.mark.parametrize("name", ["../../planted", "/tmp/planted", "a/../../planted", "a//b", ""])
def test_a_profiles_file_is_not_written_elsewhere(server: Server, name: str) -> None:
    friend = server.friend()
    answer = friend.asked({"do": "open", "profile": profile(files=[name])}, b"x")
    friend.sock.close()

    assert answer["error"] == "config"
    assert "relative path" in "\n".join(answer["problems"])


DEEP: Any = "deep"
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"do": "open"},
        {"do": "open", "profile": []},
        {"do": "open", "profile": DEEP},
        {"do": "open", "profile": profile(runtime="a\0b")},
        {"do": "open", "profile": profile(runtime=5)},
        {"do": "open", "profile": profile(paths=[1])},
        {"do": "open", "profile": profile(files=[["a"]])},
        {"do": "open", "profile": profile(files=["a"])},
        {"do": "close", "id": "1"},
        {"do": "close", "id": [[[]]]},
        {"do": "finish", "wait": 1},
        {"do": "fly"},
        {"do": ["open"]},
    ],
)
def test_a_question_that_makes_no_sense_ends_one_conversation(
    server: Server, question: dict[str, Any]
) -> None:
    friend = server.friend()
    friend.say(greeting.ASK, {"id": 1, **question})
    assert friend.hung_up()
    server.runs()


@pytest.mark.parametrize(
    ("question", "pieces"),
    [
        ({"do": "start"}, [b""]),
        (start("pass"), []),
        (start("pass", files=[["a", 0o644]]), [b""]),
        (start("pass", files=[["a", "rwx"]]), [b"", b""]),
        (start("pass", files=[["a", 1e999]]), [b"", b""]),
        (start("pass", files=[["n" * 70_000, 0o644]]), [b"", b""]),
        (start("pass", cpu_s="x"), [b""]),
        (start("pass", wall_s=-5), [b""]),
        (start("pass", wall_s=1e999), [b""]),
        (start("pass", words=2), [b""]),
        (start("pass", words=-1), [b""]),
        (start("pass", words="1"), [b""]),
        ({"do": "recv", "max_bytes": "many", "timeout": 1}, []),
        ({"do": "recv", "max_bytes": 1e999, "timeout": 1}, []),
        ({"do": "recv", "max_bytes": 1, "timeout": []}, []),
        ({"do": "send"}, []),
    ],
)
def test_a_question_with_wrong_parts_ends_one_conversation(
    server: Server, question: dict[str, Any], pieces: list[bytes]
) -> None:
    friend = server.friend()
    friend.asked({"do": "open", "profile": profile()})
    if question["do"] != "start":
        friend.asked(start("import time; time.sleep(30)"), b"")
    friend.say(greeting.ASK, {**question, "id": 9}, *pieces)
    assert friend.hung_up()
    server.runs()


@pytest.mark.parametrize(
    "text",
    [
        b'{"do":"recv","max_bytes":1,"timeout":NaN,"sizes":[],"id":1}',
        b'{"do":"recv","max_bytes":1,"timeout":-Infinity,"sizes":[],"id":1}',
        b'{"do":"open","profile":' + b"[" * 100_000,
        b'{"id":' + b"9" * 10_000 + b',"sizes":[]}',
        b'{"sizes":[-1]}',
        b'{"sizes":[1000000000000]}',
        b'{"sizes":"abc"}',
        b'{"sizes":[true]}',
        b'{"sizes":[],"sizes":[5]}',
        b"\xff\xfe",
        b"",
        b"5",
    ],
)
def test_json_that_is_no_question_ends_one_conversation(server: Server, text: bytes) -> None:
    friend = server.friend()
    friend.sock.sendall(wire.frame(greeting.ASK, struct.pack("<I", len(text)), text))
    assert friend.hung_up()
    server.runs()


def test_a_header_or_a_frame_that_is_too_long_is_not_read(server: Server) -> None:
    friend = server.friend()
    text = b'{"x":"' + b"a" * payload.HEADER_MOST + b'","sizes":[]}'
    friend.sock.sendall(wire.frame(greeting.ASK, struct.pack("<I", len(text)), text))
    assert friend.hung_up()
    friend = server.friend()
    friend.sock.sendall(struct.pack("<BI", greeting.ASK, (1 << 28) + 1))
    assert friend.hung_up()
    server.runs()


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "x\0y", "", "a//b"])
def test_a_files_name_stays_in_the_working_directory(server: Server, name: str) -> None:
    friend = server.friend()
    friend.asked({"do": "open", "profile": profile()})
    answer = friend.asked(start("pass", files=[[name, 0o644]]), b"", b"x")
    friend.sock.close()

    assert answer["error"] == "config"


def test_questions_at_once_are_answered_one_by_one_and_the_last_counts(server: Server) -> None:
    friend = server.friend()
    for number in range(1, 30):
        what = {"do": "open", "profile": profile()} if number % 2 else {"do": "close"}
        friend.say(greeting.ASK, {**what, "id": number})
    friend.number = 100
    assert friend.asked({"do": "open", "profile": profile()})["isolation"] == "process"
    friend.asked(start("print('well')"), b"")
    assert friend.asked({"do": "finish", "wait": None})["exit"]["status"] == 0
    server.runs()
