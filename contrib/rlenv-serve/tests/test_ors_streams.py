"""Streams of ORS: what was sent arrives, and a call is made once, whatever becomes of the
connection.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ors_wire import Ors, begun, echoes, events, joined
from rlenv import Environment, stage
from rlenv_serve import Limits, Server
from rlenv_serve.ors import sse
from rlenv_serve.ors.sessions import OrsSessions
from rlenv_serve.state.memory import MemoryJournal
from serving import TASKS, Client, catalog_of, running, same, served, sums, until

# White space of every sort, lone surrogates, what JSON escapes, and lengths around the border of a
# part.
TEXTS = st.one_of(
    st.text(st.characters(), max_size=300),
    st.text(' \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u3000\\"x', max_size=300),
    st.builds(
        lambda text, times: text * times,
        st.text(" x\n\\", min_size=1, max_size=7),
        st.integers(0, 3000),
    ),
)


@pytest.fixture(scope="module")
def ask() -> Iterator[Client]:
    with catalog_of(echoes(), sums()) as catalog, running(Server(catalog)) as client:
        yield client


def arrived(text: str) -> None:
    """The text arrives as it is, wherever the borders of parts lie."""
    for shift in ("", "x"):
        raw = sse.event("task_id", "t") + sse.result({"text": shift + text})
        found = joined(raw)
        assert found.value == {"text": shift + text}
        parts = [data for name, data in events(raw) if name != "task_id"]
        assert max(map(len, parts)) <= sse.PART
        assert all(part == part.strip() for part in parts)
        assert b"\n" not in raw.replace(b"\r\n", b"")


@given(TEXTS)
@settings(max_examples=200)
def test_a_text_arrives_as_it_was_sent(text: str) -> None:
    arrived(joined_surrogates(text))


@pytest.mark.slow  # ten thousand texts, most of several parts: ten seconds
@given(TEXTS)
@settings(max_examples=10_000)
def test_ten_thousand_texts_arrive_as_they_were_sent(text: str) -> None:
    arrived(joined_surrogates(text))


def joined_surrogates(text: str) -> str:
    """Two surrogates that meet are one character in JSON, which cannot tell."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@pytest.mark.parametrize("offset", [0, 1, 4000, 4001])
def test_white_space_of_many_parts_arrives_whole(ask: Client, offset: int) -> None:
    session = begun(ask)
    found = session.call("spaces", count=18_000, offset=offset).value["output"]["blocks"]

    assert found[0]["text"] == "x" * offset + " " * 18_000


def test_lone_surrogates_of_a_policy_are_read_and_cost_it_nothing(ask: Client) -> None:
    session = begun(ask)
    raw = b'{"name": "echo", "input": {"text": "\\\\ud800 \\ud800 \\ude00\\ud83d\\ude00 \\ud83d"}}'
    found = joined(session("POST", "/call", raw).body)

    assert found.value["output"]["blocks"][0]["text"] == "\\ud800 \ufffd \ufffd😀 \ufffd"


def test_a_huge_answer_arrives_cut_to_what_an_observation_may_have(ask: Client) -> None:
    session = begun(ask)
    found = session.call("spaces", count=50_000_000).value["output"]["blocks"][0]["text"]

    assert len(found) < 257_000
    assert found.endswith("characters left out]")


def test_a_call_that_takes_long_keeps_its_stream_alive(
    ask: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "PING", 0.1)
    session = begun(ask)
    raw = session("POST", "/call", {"name": "sleep", "input": {"seconds": 2.0}}).body

    assert raw.count(b": ping\r\n\r\n") >= 2
    assert raw.startswith(b"event: task_id\r\ndata: ")
    assert joined(raw).value["output"]["blocks"][0]["text"] == "awake"


def broken_stream(session: Ors, body: object) -> str:
    """The id of the run of a call whose connection breaks as soon as that was read."""
    connection = http.client.HTTPConnection("127.0.0.1", session.ask.port, timeout=30)
    connection.request(
        "POST", "/call", json.dumps(body), {**session.ask.headers, "X-Session-ID": session.sid}
    )
    response = connection.getresponse()
    assert response.readline() == b"event: task_id\r\n"
    task_id = response.readline().decode().removeprefix("data: ").strip()
    connection.close()
    return task_id


def test_a_stream_that_breaks_is_taken_up_and_the_call_is_made_once(ask: Client) -> None:
    session = begun(ask)
    task_id = broken_stream(session, {"name": "sleep", "input": {"seconds": 0.5}})
    found = [session.call("sleep", task_id, seconds=0.5) for _ in range(3)]

    assert all(each == found[0] and each.task_id == task_id for each in found)
    assert found[0].value["output"]["blocks"][0]["text"] == "awake"
    assert ask("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 1


def test_the_end_of_an_episode_can_be_read_again(ask: Client) -> None:
    session = begun(ask)
    end = session.call("submit", answer="0")

    assert end.value["output"]["reward"] == 1.0
    assert session.call("submit", end.task_id, answer="0") == end
    assert session.call("submit", answer="0").value["reason"] == "episode_finished"


def test_a_call_survives_the_server() -> None:
    journal = MemoryJournal()
    with echoes() as env:
        with running(Server(served(env), journal=journal)) as ask:
            session = begun(ask)
            done = session.call("echo", text="hello")
        with running(Server(served(env), journal=journal)) as ask:
            session.ask = ask
            assert session.call("echo", done.task_id, text="hello") == done
            assert session.call("submit", answer="0").value["output"]["reward"] == 1.0


def test_an_episode_that_cannot_be_played_again_is_410() -> None:
    journal = MemoryJournal()
    with echoes() as env, running(Server(served(env), journal=journal)) as ask:
        session = begun(ask)
    changed = stage(where="inline")(lambda visible: False)
    with (
        Environment("echoes", changed, env.tasks) as other,
        running(Server(served(other), journal=journal)) as ask,
    ):
        session.ask = ask
        for method, path in (("GET", "/prompt"), ("POST", "/ping")):
            assert session(method, path).status == 410
        assert session("POST", "/call", {"name": "echo", "input": {"text": "x"}}).status == 410


def test_a_run_is_known_to_its_session_alone(ask: Client) -> None:
    mine = begun(ask)
    theirs = begun(ask)
    run = mine.call("echo", text="secret")
    unknown = [
        theirs.call("echo", run.task_id, text="secret"),
        mine.call("echo", "0" * 64, text="x"),
    ]

    assert [each.error for each in unknown] == ["unknown task_id"] * 2
    assert "another request" in str(mine.call("echo", run.task_id, text="other").error)
    assert ask("GET", f"/episodes/{theirs.sid[:32]}").body["steps"] == 0


def test_a_client_that_goes_away_leaves_nothing_behind(tmp_path: Path) -> None:
    with echoes() as env:
        server = Server(served(env), limits=Limits(running=2, waiting=2))
        with running(server) as ask:
            session = begun(ask)
            for _ in range(4):
                broken_stream(session, {"name": "gate", "input": {"path": str(tmp_path / "open")}})
            full = session("POST", "/call", {"name": "echo", "input": {"text": "x"}})
            assert (full.status, full.headers["retry-after"]) == (429, "1")
            (tmp_path / "open").touch()
            until(
                lambda: (
                    (server.turns.running, server.turns.waiting, OrsSessions.of(server)._runs)
                    == ({}, {}, set())
                )
            )
            assert ask("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 4


def test_calls_of_one_session_are_made_one_after_another(ask: Client) -> None:
    session = begun(ask)
    found = list[Any]()
    threads = [
        threading.Thread(target=lambda n=n: found.append(session.call("echo", text=str(n))))
        for n in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(each.value["output"]["blocks"][0]["text"] for each in found) == list("01234567")
    assert ask("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 8


def test_a_step_that_takes_too_long_is_an_error_of_the_stream() -> None:
    with echoes() as env, running(Server(served(env), limits=Limits(deadline=3.0))) as ask:
        session = begun(ask)

        assert "not taken" in str(session.call("sleep", seconds=30.0).error)
        assert session.call("submit", answer="0").value["output"]["reward"] == 1.0


def test_a_group_that_takes_too_long_has_no_scores_and_holds_nothing() -> None:
    @stage(where="caller")
    async def waits(visible: str) -> bool:
        await asyncio.sleep(60)
        return True

    with Environment("waits", waits, TASKS) as env:
        server = Server(served(env), limits=Limits(deadline=3.0, running=4))
        with running(server) as ask:
            said = {"role": "assistant", "blocks": [{"type": "text", "text": "x", "detail": None}]}
            body = {"candidates": [{"messages": [said]}] * 20}
            found = joined(begun(ask)("POST", "/score_group", body).body)
            assert "no scores" in str(found.error)
            until(lambda: (server.turns.running, OrsSessions.of(server)._runs) == ({}, set()))


def test_a_verifier_that_gives_no_number_is_no_reward() -> None:
    for value in (float("nan"), float("inf"), -1.0):
        judge = stage(where="inline")(lambda visible, value=value: value)
        with Environment("odd", same, [*sums().tasks]) as odd:
            pass
        with Environment("odd", judge, odd.tasks) as env, running(Server(served(env))) as ask:
            found = begun(ask).call("submit", answer="0")

            assert found.value is None
            assert "not worth 0" in str(found.error)
