"""How a program ended, from what the zygote and the kernel reported."""

from __future__ import annotations

import os
import signal
import struct
from typing import Literal

from attrs import frozen
from rlenv import Fault
from rlenv.sandbox import Exit, Reason, Tier

from rlenv_plugin_sandbox.pool import Place

from .slot import lost

__all__ = ["REPORT", "Report", "ending"]

REPORT = struct.Struct("<iddQi")
_ZYGOTE_S = 0.02  # CPU of the zygote beside a run, and more
_ROUGHLY = 0.8  # the kernel's ticks are not as exact as its accounts


@frozen
class Report:
    """What is known of a run at its end; ``data`` is the zygote's word, b"" when it gave none."""

    data: bytes
    pid: int | None
    ordered: Literal["", "killed", "wall"]
    cpu_limit: float
    wall: float
    starved: bool
    oom: bool
    truncated: bool
    stdout: bytes
    stderr: bytes
    group_cpu: float = 0.0
    group_memory: int = 0
    said: str = ""


def ending(report: Report, slot: Place, isolation: Tier) -> Exit:
    """The Exit of a run.

    A sandbox that broke is marked unhealthy, so that its place is made anew.
    """
    started = report.pid is not None
    if not report.data:
        return _without_word(report, slot, isolation, started=started)
    status, user, system, peak, failure = REPORT.unpack(report.data)
    code = os.waitstatus_to_exitcode(status)
    cpu = _cpu(user + system, report.group_cpu)
    fault = _fault(report, failure, cpu, started=started)
    if fault is not None:
        slot.healthy = slot.healthy and started
    return Exit(
        status=code if started else None,
        reason=_reason(report, code, cpu, slot) if started else "lost",
        cpu=cpu,
        wall=report.wall,
        peak_memory=max(peak, report.group_memory),
        truncated=report.truncated,
        isolation=isolation,
        started=started,
        stdout=report.stdout,
        stderr=report.stderr,
        fault=fault,
    )


def _without_word(report: Report, slot: Place, isolation: Tier, *, started: bool) -> Exit:
    """The zygote is gone: memory that the program took may have cost its life too, or it was asked
    to end it.
    """
    slot.healthy = False
    memory = slot.ran_out_of_memory()
    ordered = "" if report.starved else report.ordered
    if started and (memory or ordered):
        return Exit(
            status=-signal.SIGKILL,
            reason="memory" if memory else ordered or "killed",
            cpu=report.group_cpu,
            wall=report.wall,
            truncated=report.truncated,
            isolation=isolation,
            started=started,
            stdout=report.stdout,
            stderr=report.stderr,
        )
    fault = lost(report.said or "the zygote ended during a run")
    wall = report.wall
    return Exit(
        None, "lost", report.group_cpu, wall, isolation=isolation, started=started, fault=fault
    )


def _cpu(own: float, group: float) -> float:
    """What it used: the group counts descendants too that nobody waited for, and a little of the
    zygote.
    """
    return group if group > own + _ZYGOTE_S else own


def _fault(report: Report, failure: int, cpu: float, *, started: bool) -> Fault | None:
    if failure:
        return lost(f"no process could be created: {os.strerror(failure)}")
    if not started:
        return lost(f"the program did not start{report.said and ': ' + report.said}")
    if report.ordered == "wall" and report.starved:
        said = f"the machine was too busy: in {report.wall:.3g} s a program got {cpu:.3g} s of CPU"
        return Fault("timeout", f"sandbox: {said}; run fewer things at one time", transient=True)
    return None


def _reason(report: Report, code: int, cpu: float, slot: Place) -> Reason:
    if report.oom or (code == -signal.SIGKILL and not report.ordered and slot.ran_out_of_memory()):
        return "memory"
    if code in (-signal.SIGKILL, -signal.SIGXCPU) and cpu >= report.cpu_limit * _ROUGHLY:
        return "cpu"
    if report.ordered:
        return report.ordered
    return "signal" if code < 0 else "exit"
