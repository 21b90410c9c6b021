"""The cache gives the reply that was asked for, or none."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError, VerifierFault
from rlenv_plugin_judge.protocol.ask import ask
from rlenv_plugin_judge.protocol.verdict import Field, Verdict
from rlenv_plugin_judge.transport.cache import Cache, key_of, pack, unpack
from rlenv_plugin_judge.transport.client import Client
from rlenv_plugin_judge.transport.endpoint import Endpoint
from rlenv_plugin_judge.transport.request import Reply, Request, Token, Usage

REPLY = Reply(
    "Yes.",
    "m",
    Usage(3, 4),
    "stop",
    (Token("Yes", -0.1, (("Yes", -0.1),)),),
    endpoint="http://x/v1",
)
ENDPOINT = Endpoint("https://example.org/v1", "m")
REQUEST = Request("", ({"role": "user", "content": "?"},), {"temperature": 0})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judge.cache"


def filled(path: Path) -> None:
    cache = Cache(path)
    cache.put("k", REPLY)
    cache.close()


def test_a_reply_comes_back_as_it_was(path: Path) -> None:
    cache = Cache(path)
    assert cache.get("k") is None
    cache.put("k", REPLY)
    assert cache.get("k") == evolve(REPLY, cached=True)
    cache.close()
    again = Cache(path)
    assert again.get("k") == evolve(REPLY, cached=True)
    again.forget("k")
    assert again.get("k") is None
    again.close()
    last = Cache(path)
    assert last.get("k") is None
    last.close()


def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    filled(path)
    assert path.stat().st_mode & 0o077 == 0


@given(st.text(alphabet=st.characters(categories=None)), st.text())
def test_any_text_is_packed(text: str, model: str) -> None:
    reply = evolve(REPLY, text=text, model=model)
    assert unpack("k", pack("k", reply)) == evolve(reply, cached=True)


@given(st.integers(0, 400), st.integers(1, 255))
def test_a_changed_byte_is_no_reply(at: int, flip: int) -> None:
    packed = bytearray(pack("k", REPLY))
    packed[at % len(packed)] ^= flip
    assert unpack("k", bytes(packed)) is None


def test_a_reply_under_another_key_is_no_reply() -> None:
    assert unpack("other", pack("k", REPLY)) is None
    assert unpack("k", None) is None


@pytest.mark.parametrize(
    "value",
    [b"{", b"[]", b"5", b"{}", b'{"logprobs": 5}', b'{"logprobs": [], "usage": 1}', b"[" * 100_000],
)
def test_an_entry_of_another_form_is_a_miss_though_its_checksum_is_right(value: bytes) -> None:
    assert unpack("k", hashlib.sha256(b"k" + value).digest() + value) is None


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "model": ({"model": "n"}, {}),
    "revision": ({"revision": "2"}, {}),
    "endpoint-params": ({"params": {"top_p": 0.5}}, {}),
    "messages": ({}, {"messages": ({"role": "user", "content": "!"},)}),
    "role": ({}, {"messages": ({"role": "system", "content": "?"},)}),
    "params": ({}, {"params": {"temperature": 1}}),
    "request-model": ({}, {"model": "n"}),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_whatever_an_answer_depends_on_is_in_the_key(name: str) -> None:
    endpoint, request = CHANGES[name]
    assert key_of(evolve(ENDPOINT, **endpoint), evolve(REQUEST, **request)) != key_of(
        ENDPOINT, REQUEST
    )


def test_the_key_depends_on_nothing_else() -> None:
    moved = evolve(ENDPOINT, base_url="https://other.org/v1", price_in=3.0, key_env=None)
    assert key_of(moved, REQUEST) == key_of(ENDPOINT, REQUEST)
    named = evolve(REQUEST, params={"b": 1, "a": 2})
    assert key_of(ENDPOINT, named) == key_of(ENDPOINT, evolve(REQUEST, params={"a": 2, "b": 1}))


def test_several_processes_share_a_file(path: Path) -> None:
    code = (
        "import sys\n"
        "from rlenv_plugin_judge.transport.cache import Cache\n"
        "from rlenv_plugin_judge.transport.request import Reply\n"
        "cache = Cache(sys.argv[1])\n"
        "for i in range(200):\n"
        "    cache.put(f'{sys.argv[2]}-{i}', Reply(f'{sys.argv[2]} {i}'))\n"
        "    cache.put(f'shared-{i}', Reply(f'shared {i}'))\n"
        "cache.close()\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    cache = Cache(path)
    for i in range(200):
        for name in ("0", "1", "2", "shared"):
            found = cache.get(f"{name}-{i}")
            assert found is not None
            assert found.text == f"{name} {i}"
    cache.close()


def test_several_may_begin_the_same_file_at_once(tmp_path: Path) -> None:
    for round_ in range(15):
        path = tmp_path / f"{round_}.cache"
        together = threading.Barrier(4)

        def one(name: str, path: Path = path, together: threading.Barrier = together) -> None:
            cache = Cache(path)
            together.wait()
            cache.put(name, REPLY)
            cache.close()

        threads = [threading.Thread(target=one, args=(str(n),)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        cache = Cache(path)
        assert [n for n in range(4) if cache.get(str(n)) is None] == []
        cache.close()


READER = (
    "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('select * from"
    " replies').fetchall(); d.close()"
)


def test_a_reader_keeps_its_hold_on_the_file_while_replies_are_written(path: Path) -> None:
    cache = Cache(path)
    cache.get("k")  # opens it
    cache.put("k", REPLY)
    assert cache._writer is not None
    cache._writer.join()
    subprocess.run([sys.executable, "-c", READER, str(path)], check=True)  # the last to close?

    assert Path(f"{path}-wal").exists()
    assert cache.get("k") == evolve(REPLY, cached=True)
    cache.close()
    assert not Path(f"{path}-wal").exists()


FORK = """
import os, sys
from rlenv_plugin_judge.transport.cache import Cache
from rlenv_plugin_judge.transport.request import Reply
cache = Cache(sys.argv[1])
cache.get("k")
cache.put("k", Reply("of parent"))
cache._writer.join()  # SQLite's own locks survive no fork
with cache._lock:  # held by another thread, for all that the child knows
    child = os.fork()
    if child == 0:
        cache.put("c", Reply("of child"))
        cache.close()
        os._exit(0 if cache.get("c").text == "of child" else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert cache.get("c").text == "of child"
cache.close()
assert Cache(sys.argv[1]).get("k").text == "of parent"
"""


def test_a_child_of_a_fork_begins_anew_and_leaves_the_parent_s_file_whole(path: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-c", FORK, str(path)]
    done = subprocess.run(program, capture_output=True, timeout=100, check=False)

    assert done.returncode == 0, done.stderr.decode()


def test_nothing_is_open_any_more_when_a_cache_was_closed(path: Path) -> None:
    for _ in range(20):
        cache = Cache(path)
        cache.put("k", REPLY)
        cache.close()

        assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_replies_that_could_not_be_kept_are_told_of(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_text("my notes\n" * 1000, encoding="utf-8")
    with caplog.at_level("WARNING", logger="rlenv.judge"):
        filled(path)
    assert "remove the file" in caplog.text
    assert "were not kept" in caplog.text


def test_a_file_that_is_no_cache_is_an_error_and_stays_as_it_is(path: Path) -> None:
    path.write_text("my notes\n" * 1000, encoding="utf-8")
    cache = Cache(path)
    with pytest.raises(VerifierFault, match="remove the file") as caught:
        cache.get("k")
    assert not caught.value.fault.transient
    assert path.read_text(encoding="utf-8") == "my notes\n" * 1000
    cache.close()


def test_a_database_of_something_else_is_left_alone(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE replies (key, value)")
    db.commit()
    db.close()
    cache = Cache(path)
    with pytest.raises(ConfigError, match="something else"):
        cache.get("k")
    cache.close()


def test_a_damaged_cache_is_an_error_or_a_miss_and_never_a_wrong_reply(path: Path) -> None:
    cache = Cache(path)
    for i in range(300):
        cache.put(str(i), evolve(REPLY, text=f"reply {i} " * 20))
    cache.close()
    whole = bytearray(path.read_bytes())
    for at in range(4096, len(whole), 97):
        whole[at] ^= 0x55
    path.write_bytes(whole)
    damaged = Cache(path)
    for i in range(300):
        try:
            found = damaged.get(str(i))
        except VerifierFault:
            continue
        assert found is None or found.text == f"reply {i} " * 20
    damaged.close()


def test_a_cache_that_another_process_writes_to_is_read(path: Path) -> None:
    filled(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    cache = Cache(path)
    assert cache.get("k") == evolve(REPLY, cached=True)
    other.execute("COMMIT")
    other.close()
    cache.close()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "nowhere" / "cache")
    with pytest.raises(ConfigError, match="in a folder that exists"):
        cache.get("k")


def verdicts(server: Any, model: str, path: Path) -> list[Verdict | BaseException]:
    async def run() -> list[Verdict | BaseException]:
        client = Client([Endpoint(server.url, model, key_env=None)], cache=path)
        asked = (
            ask(
                client,
                instructions="Is it right?",
                material={"response": f"answer {i}"},
                fields=(Field("score"),),
                key=b"thirty-two bytes of a secret key",
            )
            for i in range(8)
        )
        found = await asyncio.gather(*asked, return_exceptions=True)
        await client.close()
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("model", ["honest", "wrong-then-fine", "quoting-after"])
def test_the_second_run_is_free_and_the_same(judge_server: Any, path: Path, model: str) -> None:
    judge_server.key["answer 3"] = 0.5
    first = verdicts(judge_server, model, path)
    asked = len(judge_server.requests)
    second = verdicts(judge_server, model, path)
    assert len(judge_server.requests) == asked
    assert all(isinstance(v, Verdict) and v.cached for v in second)
    assert [evolve(v, cached=True) for v in first if isinstance(v, Verdict)] == second


def test_a_judge_s_failure_is_not_kept(judge_server: Any, path: Path) -> None:
    verdicts(judge_server, "wrong-json", path)
    asked = len(judge_server.requests)
    found = verdicts(judge_server, "wrong-json", path)
    assert len(judge_server.requests) == 2 * asked
    assert all(isinstance(v, VerifierFault) for v in found)
