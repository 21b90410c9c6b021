"""Spans written with the SDK of OpenTelemetry: to a collector, or as lines of JSON in a file."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TextIO

from prometheus_client import Counter
from rlenv import ConfigError
from rlenv_plugin_agent.rollouts.spans import Span

from .metrics import TRACEPARENT, Metrics

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter

logger = logging.getLogger("rlenv_serve")
ROOM = 4 << 20  # bytes: what is written at once, so that processes may share a file, is less
LONGEST = 256  # characters of a name or an attribute
LAST = 5.0  # seconds for what waits, when the server ends


class Tracer:
    """Writes traces, in a thread of its own: where that is too slow, the oldest spans that wait are
    left out.

    Args:
        exporter: where they go.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._parent = TraceContextTextMapPropagator().extract
        self._provider = TracerProvider(shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("rlenv")

    def write(self, root: Span, about: Mapping[str, object]) -> None:
        """Write a trace that ends now; where it cannot be made, nothing else fails.

        Args:
            root: with all that is inside it.
            about: attributes of the root, besides its own.
        """
        try:
            parent = self._parent({"traceparent": TRACEPARENT.get()})
            end = time.time_ns()
            self._write(root, max(0, end - nanoseconds(root.seconds)), end, parent, about)
        except Exception:
            logger.exception("a trace cannot be made")

    def _write(
        self, span: Span, start: int, end: int, parent: Context, about: Mapping[str, object]
    ) -> None:
        from opentelemetry.trace import StatusCode, set_span_in_context

        told = {**span.about, **about, "error.type": span.error or None}
        attributes = {key: clean(value) for key, value in told.items() if value is not None}
        made = self._tracer.start_span(
            str(clean(span.name)), parent, attributes=attributes, start_time=start
        )
        if span.error:
            made.set_status(StatusCode.ERROR, str(clean(span.error)))
        within = set_span_in_context(made, parent)
        at = start
        for child in span.children:
            length = min(nanoseconds(child.seconds), end - start)
            at = min(at, end - length)
            self._write(child, at, at + length, within, {})
            at += length
        made.end(end)

    def close(self) -> None:
        """Write what waits; a collector that does not answer holds up the end of the server for
        seconds at most.
        """
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(LAST)


def nanoseconds(seconds: float) -> int:
    """A length of time."""
    return max(0, int(seconds * 1e9))


def clean(value: object) -> str | float:
    """A value as protocols take it: a text without half surrogates, and not long."""
    return (
        value
        if isinstance(value, (int, float))
        else str(value)[:LONGEST].encode("utf-8", "replace").decode()
    )


class Once(logging.Handler):
    """Counts what OpenTelemetry complains of, and logs each sort of complaint once."""

    def __init__(self, counted: Counter) -> None:
        super().__init__(logging.WARNING)
        self._counted = counted
        self._told = set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of the log."""
        self._counted.inc()
        if record.msg not in self._told:
            self._told.add(record.msg)
            why = record.exc_info[1] if record.exc_info else ""
            logger.warning("traces are not written: %s %s", record.getMessage(), why)


def _open_file(path: str) -> TextIO:
    opener = partial(os.open, mode=0o600)
    return open(path, "a", ROOM, "utf-8", opener=opener)


def begin(target: str, metrics: Metrics) -> Callable[[], None]:
    """Write traces from now on, until what this returns is called.

    Args:
        target: ``otlp``, or the path of a file.
        metrics: of the server, which count failures.

    Raises:
        ConfigError: the file cannot be written.
        ImportError: the packages of OpenTelemetry are not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    os.environ.setdefault("OTEL_SERVICE_NAME", "rlenv")
    try:
        file = None if target == "otlp" else _open_file(target)
    except OSError as error:
        raise ConfigError(
            f"--trace {target}: {error.strerror}; name a file that can be written, or otlp"
        ) from None
    complaints = logging.getLogger("opentelemetry")
    complaints.propagate = False
    complaints.addHandler(Once(metrics.untraced))
    made = Tracer(
        ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(None) + "\n")
        if file
        else OTLPSpanExporter()
    )
    metrics.trace = made.write
    return made.close
