"""Traces that cannot be written cost no request anything."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from rlenv_plugin_agent.rollouts.spans import Span
from rlenv_serve import Server, tracing
from rlenv_serve.metrics import Metrics
from rlenv_serve.tracing import Tracer, begin
from serving import catalog_of, running, sums, until
from tracing_env import nested, verify


class Stuck(SpanExporter):
    """Takes spans when it is let go."""

    def __init__(self) -> None:
        self.taken = 0
        self.free = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.free.wait(60)
        self.taken += len(spans)
        return SpanExportResult.SUCCESS


def test_10_000_spans_that_nobody_takes_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    stuck = Stuck()
    tracer = Tracer(stuck)
    with caplog.at_level(logging.CRITICAL, "opentelemetry"):
        for _ in range(10_000):
            tracer.write(Span("one", 0.0, {}), {})
        stuck.free.set()
        tracer.close()

    assert 2048 <= stuck.taken <= 2048 + 512  # the queue of the SDK, and a batch


@pytest.fixture
def quiet() -> Iterator[None]:
    """The log of OpenTelemetry as it was."""
    log = logging.getLogger("opentelemetry")
    handlers = [*log.handlers]
    propagate = log.propagate
    yield
    log.handlers[:] = handlers
    log.propagate = propagate


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a server opens for its traces, and leaves to the end of its process, is closed."""
    opened = list[Any]()

    def kept(*given: Any, **named: Any) -> Any:
        opened.append(open(*given, **named))  # noqa: SIM115 - closed below
        return opened[-1]

    monkeypatch.setattr(tracing, "open", kept, raising=False)
    yield
    for each in opened:
        with suppress(OSError):  # a full disk does not take the rest, either
            each.close()


def failures(metrics: Metrics) -> float:
    return metrics.registry.get_sample_value("rlenv_trace_failures_total") or 0.0


@pytest.mark.usefixtures("quiet", "files")
@pytest.mark.parametrize(
    ("target", "says"), [("/dev/full", "No space left"), ("otlp", "failed to export")]
)
def test_a_sink_that_fails_is_counted_and_told_once_and_no_client_sees_it(
    target: str, says: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with catalog_of(sums(), nested()) as catalog:
        server = Server(catalog)
        end = begin(target, server.metrics)
        with running(server) as ask:

            def fails_again(before: float) -> bool:
                assert verify(ask, "0").body["results"][0]["reward"] == 1.0
                return failures(server.metrics) > before

            until(lambda: fails_again(0.0))
            until(lambda: fails_again(1.0))
            assert b"rlenv_trace_failures_total" in ask("GET", "/metrics").body
        end()
    told = [each.message.lower() for each in caplog.records if each.name == "rlenv_serve"]
    # OpenTelemetry has two sorts of complaint that say so, and where it has little time it makes
    # both.
    sorts = [each.partition(" code:")[0] for each in told if says.lower() in each]
    assert sorts, told
    assert len({*sorts}) == len(sorts), told
