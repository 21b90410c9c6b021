"""The clock of a program in a container: what its relay sees within, and what the machine counts
without.
"""

from __future__ import annotations

import asyncio

from rlenv_plugin_sandbox.guest.delays import Delays
from rlenv_plugin_sandbox.metering import Meter

from .container import Container

__all__ = ["ContainerClock"]

_FIRST_S = 0.25  # asking the relay, or even the daemon, costs more than reading a file


class ContainerClock:
    """Looks at a program's clock.

    gVisor's kernel tells nobody how long a program waits for a processor.  The machine's own does,
    of the threads of gVisor's kernel and of the program together; where that is another machine,
    what counts is the CPU that gVisor's kernel counts, since the program would have run for so
    long, less the container's own.

    Args:
        gvisor: whether the kernel within is gVisor's.

    Attributes:
        overcount: seconds that the kernel within counts as CPU and the machine did not give, as far
            as looks tell.
    """

    def __init__(self, container: Container, *, gvisor: bool) -> None:
        self.meter = Meter(_FIRST_S)
        self.overcount = 0.0
        self._container = container
        self._gvisor = gvisor
        self._base: float | None = None  # of the container's CPU, at the program's start
        self._delay = 0.0
        self._delays = Delays(sum)
        if gvisor and container.group is not None:
            self._base = container.group.cpu()
            self._waited()

    async def look(self, state: tuple[float, float, float] | None) -> None:
        """Take in a look; ``state`` is the relay's word (`wire.STATE_BODY`), None when it gave
        none.
        """
        delay, asked, within = state or (self._delay, None, self.meter.now.cpu)
        whole = await asyncio.to_thread(self._container.cpu)
        if whole is not None and self._base is None:
            self._base = whole - within
        self._take(delay, asked, within, whole)

    def ended(self, delay: float, asked: float, cpu: float) -> None:
        """Take in the relay's last word; a daemon's would come too late."""
        group = self._container.group
        self._take(delay, asked, cpu, group.cpu() if self._gvisor and group is not None else None)
        self.meter.rest()

    def _take(self, delay: float, asked: float | None, within: float, whole: float | None) -> None:
        used = within - self.overcount
        if whole is not None and self._base is not None:
            used = whole - self._base
        if self._gvisor:
            self.overcount = max(self.overcount, within - used)
            delay = max(self._delay + self._waited(), self.overcount)
        self.meter.note(used, max(0.0, delay - self._delay), asked)
        self._delay = max(delay, self._delay)

    def _waited(self) -> float:
        group = self._container.group
        return 0.0 if group is None else self._delays.since(group.threads())
