"""A lease on one place: start a program, exchange frames with it, learn how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlenv import ConfigError, VerifierFault
from rlenv.sandbox import Exit

from rlenv_plugin_sandbox.lease import PlaceSession

from .ending import ending
from .run import Run
from .slot import Slot, lost
from .start import message

__all__ = ["Session"]


class Session(PlaceSession[Slot, Run]):
    """A lease on one slot."""

    async def start(
        self,
        program: str | Sequence[str],
        files: Mapping[str, bytes | tuple[bytes, int]] = {},
        *,
        stdin: bytes = b"",
        cpu_s: float | None = None,
        wall_s: float | None = None,
    ) -> None:
        cpu, wall = self._limits(cpu_s, wall_s)
        for name in files:
            if name.partition("/")[0] in self._place.taken:
                raise ConfigError(
                    f"file {name!r}: /tmp/{name.partition('/')[0]} of this machine is shown to programs in their "
                    "working directory, since what they run on is installed there: give the file another name, or "
                    "install rlenv elsewhere"
                )
        busy = not self._place.alone()
        runtime, given, has_stdin = self._place.profile.runtime, self.given, bool(stdin)
        text, payload = message(program, files, runtime, cpu, given, has_stdin=has_stdin, busy=busy)
        run = Run(self._place, cpu, wall)
        try:
            run.begin(text, payload, stdin)
        except OSError as error:
            run.discard()
            raise VerifierFault(lost(f"no run can be started: {error}")) from error
        except BaseException:
            run.discard()
            raise
        self._run = run

    async def finish(self, wait: float | None = None) -> Exit:
        run = self._running()
        try:
            end = ending(await run.end(wait), self._place, self.isolation)
            self.left = await self._place.left_behind()
            return end
        finally:
            self._clock += run.meter.clock
            run.discard()
            self._run = None
