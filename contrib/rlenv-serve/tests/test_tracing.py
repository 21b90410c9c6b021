"""Traces: what spans there are, and what no span holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from journals import sqlite
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rlenv_plugin_agent.rollouts.spans import Span
from rlenv_serve import Server
from rlenv_serve.tracing import Tracer
from serving import SECRET, Client, broken, catalog_of, episode, running, served, sums
from tracing_env import PARENT, nested, verify


class Traced:
    """A server whose spans are in memory."""

    def __init__(self, ask: Client, server: Server) -> None:
        self.ask = ask
        self._exporter = InMemorySpanExporter()
        self._tracer = Tracer(self._exporter)
        server.metrics.trace = self._tracer.write

    def spans(self) -> Sequence[ReadableSpan]:
        """All that there are; none comes after that."""
        self._tracer.close()
        return sorted(self._exporter.get_finished_spans(), key=lambda each: each.start_time or 0)


@pytest.fixture
def traced() -> Iterator[Traced]:
    with (
        catalog_of(sums(), nested(), broken()) as catalog,
        running(server := Server(catalog)) as ask,
    ):
        yield Traced(ask, server)


def about(span: ReadableSpan) -> Mapping[str, Any]:
    return dict(span.attributes or {})


def tree(spans: Sequence[ReadableSpan]) -> dict[str, list[str]]:
    """Names of the children of each span, by its name."""
    found: dict[str, list[str]] = {}
    names = {each.context.span_id: each.name for each in spans if each.context}
    for each in spans:
        above = names.get(each.parent.span_id, "?") if each.parent else ""
        found.setdefault(above, []).append(each.name)
    return {above: sorted(below) for above, below in found.items()}


def test_an_episode_is_one_trace_of_turns_calls_and_stages(traced: Traced) -> None:
    id_ = episode(traced.ask)
    traced.ask("POST", f"/episodes/{id_}/steps", {"action": "add", "a": 3, "b": 3})
    traced.ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "6"})
    spans = traced.spans()

    assert len({each.context.trace_id for each in spans if each.context}) == 1
    assert tree(spans) == {
        "": ["episode"],
        "episode": ["turn", "turn", "verdict"],
        "turn": ["chat", "chat", "execute_tool add"],
        "verdict": ["stage same"],
    }
    root = about(next(each for each in spans if each.name == "episode"))
    assert root["rlenv.environment"] == "sums"
    assert root["rlenv.task.id"] == "t3"
    assert root["rlenv.stop"] == "passed"
    assert root["rlenv.reward"] == 1.0
    assert root["gen_ai.agent.name"] == "me"
    assert root["gen_ai.conversation.id"] == id_
    assert root["gen_ai.operation.name"] == "invoke_agent"


def test_a_span_lies_within_the_one_above_it(traced: Traced) -> None:
    id_ = episode(traced.ask)
    traced.ask("POST", f"/episodes/{id_}/steps", {"action": "add", "a": 3, "b": 3})
    traced.ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "6"})
    verify(traced.ask, "0")
    spans = traced.spans()
    by_id = {each.context.span_id: each for each in spans if each.context}

    for each in spans:
        above = by_id[each.parent.span_id] if each.parent else each
        assert above.start_time is not None
        assert above.end_time is not None
        assert each.start_time is not None
        assert each.end_time is not None
        assert above.start_time <= each.start_time <= each.end_time <= above.end_time


def test_parts_without_room_to_follow_one_another_are_side_by_side_within_the_whole() -> None:
    exporter = InMemorySpanExporter()
    tracer = Tracer(exporter)
    parts = [Span("a", 1.0, {}), Span("b", 0.5, {}), Span("c", 9.0, {})]
    tracer.write(Span("whole", 1.25, {}, "", parts), {})
    tracer.close()
    found = {each.name: each for each in exporter.get_finished_spans()}
    start = found["whole"].start_time or 0

    def place(name: str) -> tuple[int, int]:
        span = found[name]
        return (span.start_time or 0) - start, (span.end_time or 0) - start

    assert place("a") == (0, 1_000_000_000)
    assert place("b") == (750_000_000, 1_250_000_000)
    assert place("c") == (0, 1_250_000_000)


def test_a_response_is_one_trace_below_the_span_of_its_request(traced: Traced) -> None:
    verify(traced.ask, "0", traceparent=PARENT)
    verify(traced.ask, "0", traceparent="00-not-a-parent")
    verify(traced.ask, "0")
    spans = traced.spans()
    roots = [each for each in spans if each.name == "verdict"]

    assert [each.parent is None for each in roots] == [False, True, True]
    first = roots[0]
    assert first.context is not None
    assert first.parent is not None
    assert f"00-{first.context.trace_id:032x}-{first.parent.span_id:016x}-01" == PARENT
    assert about(first)["rlenv.fingerprint"]
    stages = [about(each)["gen_ai.evaluation.name"] for each in spans if each.name != "verdict"]
    assert len(stages) == 3 * 4


def test_an_unscored_response_is_an_error_that_does_not_say_the_answer(traced: Traced) -> None:
    assert verify(traced.ask, "x", "broken").body["results"][0]["fault"] == "error"
    root, stage = traced.spans()

    for each in (root, stage):
        assert not each.status.is_ok
        assert each.status.description == "error"
        assert about(each)["error.type"] == "error"
    assert "rlenv.reward" not in about(root)
    assert SECRET not in root.to_json() + stage.to_json()


def test_what_the_policy_wrote_is_in_no_span(traced: Traced) -> None:
    id_ = episode(traced.ask)
    for name in ("x" * 3000, "\ud800 steal", "\x1b]0;title\x07", "add\n{}"):
        got = traced.ask("POST", f"/episodes/{id_}/steps", {"action": name, "note": "my words"})
        assert got.status == 200
    traced.ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "my words"})
    told = "".join(each.to_json() for each in traced.spans())

    assert "my words" not in told
    assert "steal" not in told
    assert "title" not in told
    assert "xxxx" not in told
    assert told.count("unknown_tool") >= 4


def test_names_that_no_protocol_takes_do_not_break_a_trace() -> None:
    exporter = InMemorySpanExporter()
    tracer = Tracer(exporter)
    tracer.write(Span("\ud800" * 1000, float("inf"), {}), {})
    tracer.write(Span("\ud800" * 1000, -1.0, {"rlenv.x": "\udfff", "rlenv.y": [1]}, "\ud800"), {})
    tracer.close()
    (found,) = exporter.get_finished_spans()  # the first cannot be placed in time

    assert found.name == "?" * 256
    assert found.to_json().encode()
    assert about(found)["rlenv.x"] == "?"


def test_an_episode_that_is_replayed_is_traced_when_it_ends_and_no_more(tmp_path: Path) -> None:
    with sums() as env:
        catalog = served(env)
        kept = sqlite(tmp_path)
        with running(Server(catalog, journal=kept())) as ask:
            path = f"/episodes/{episode(ask)}"
            ask("POST", f"{path}/steps", {"action": "add", "a": 3, "b": 3})
        for times in (1, 0):
            with running(server := Server(catalog, journal=kept())) as ask:
                traced = Traced(ask, server)
                end = {"action": "submit", "answer": "6"}
                for _ in range(3):  # the second and third are answered as the first was
                    assert ask("POST", f"{path}/steps", end, Idempotency_Key="k").status == 200
                assert ask("GET", f"{path}/reward").body["reward"] == 1.0
            roots = [each for each in traced.spans() if each.name == "episode"]
            assert len(roots) == times
