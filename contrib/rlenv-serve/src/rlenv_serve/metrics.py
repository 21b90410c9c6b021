"""Counters of the server, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from rlenv import Verdict
from rlenv_plugin_agent.rollouts.spans import Span

TRACEPARENT = ContextVar("traceparent", default="")  # header of the request that is answered
SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300)


class Metrics:
    """The counts of one server, and ``trace``, which writes a trace: a span, and more attributes of
    it; None: there are none.
    """

    trace: Callable[[Span, Mapping[str, object]], None] | None = None

    def __init__(self) -> None:
        self.registry = kept = CollectorRegistry()
        # There are few, and looking one up in the library is slow.
        self._of = cache(lambda metric, *labels: metric.labels(*labels))
        self._requests = Counter(
            "rlenv_requests",
            "Requests by protocol, route and status",
            ("protocol", "route", "status"),
            registry=kept,
        )
        self._latency = Histogram(
            "rlenv_request_seconds",
            "Wall time of requests",
            ("protocol",),
            buckets=SECONDS,
            registry=kept,
        )
        self._verdicts = Counter(
            "rlenv_verdicts",
            "Verdicts by environment and outcome",
            ("environment", "outcome"),
            registry=kept,
        )
        self._stages = Histogram(
            "rlenv_stage_seconds",
            "Wall time of stages",
            ("environment", "stage"),
            buckets=SECONDS,
            registry=kept,
        )
        self.episodes = Gauge("rlenv_episodes_open", "Episodes in memory", registry=kept)
        self.untraced = Counter("rlenv_trace_failures", "Failures to write traces", registry=kept)
        self.unread = Gauge(
            "rlenv_trajectories_unread",
            "Trajectories in the outbox that cannot be read, and stay there",
            registry=kept,
        )
        self.waiting = Gauge(
            "rlenv_requests_waiting", "Requests that wait for their turn", registry=kept
        )

    def request(self, protocol: str, route: str, status: int, seconds: float) -> None:
        """Count an answer to a request.

        Args:
            protocol: the tag of the endpoint.
            route: its path.
            status: of the answer.
            seconds: that it took.
        """
        self._of(self._requests, protocol, route, str(status)).inc()
        self._of(self._latency, protocol).observe(seconds)

    def verdict(self, environment: str, verdict: Verdict) -> None:
        """Count a verdict; an unscored one counts by the kind of its fault.

        Args:
            environment: its name.
            verdict: of the response.
        """
        fault = verdict.fault
        outcome = "scored" if verdict.scored else f"unscored:{fault.kind if fault else 'error'}"
        self._of(self._verdicts, environment, outcome).inc()
        for result in verdict.results:
            self._of(self._stages, environment, result.stage).observe(result.seconds)

    def show_sandboxes(self, counts: Mapping[tuple[str, str], Callable[[], float]]) -> None:
        """Show what ``rlenv_plugin_sandbox.quota`` counts, by adapter and state."""
        states = Gauge(
            "rlenv_sandboxes",
            "Sandboxes by adapter and state",
            ("adapter", "state"),
            registry=self.registry,
        )
        waiting = Gauge(
            "rlenv_sandboxes_waiting",
            "Programs that wait for a sandbox",
            ("adapter",),
            registry=self.registry,
        )
        for (adapter, state), count in counts.items():
            found = waiting.labels(adapter) if state == "waiting" else states.labels(adapter, state)
            found.set_function(count)

    def text(self) -> bytes:
        """In Prometheus's text format."""
        return generate_latest(self.registry)
