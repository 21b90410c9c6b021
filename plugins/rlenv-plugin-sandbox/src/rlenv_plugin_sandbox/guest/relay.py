"""The first process of a container: warm, forks a child per run, and carries its streams over one.

    python -I -S -B relay.py

Frames (`wire`) come in on standard input and go out on standard output.  As pid 1 it hears no
signal that it did not ask for, and ``kill(-1)`` reaches every process of the container but itself:
so nothing of a run is left when its END is sent, and what it left in the file system is removed
before.

A child begins as a copy of the process that forks it, freed memory included.  So no process that
has carried the text, inputs or output of a run may fork the next: each run is carried by a process
of its own, which forks its child first and ends with it.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import contextlib
import gc
import json
import select
import signal
import struct
import time

import child
import linux
import prefork
import tree
import wire
import zygote
from request import NOT_YET, Run, cpu_of_all, kill_all, reap
from slot import Plan

_CHUNK = 1 << 16
_OUTBOX = 1 << 18  # bytes that may wait to be sent before the program's streams have to
_MOST = 1 << 30
_GOES_ON = b"1"


class Relay:
    """Both ends of the judge's stream, and the run that is on."""

    def __init__(self, inward: int, outward: int, bell: int) -> None:
        self.inward = inward
        self.outward = outward
        self.bell = bell
        self.inbox = bytearray()
        self.outbox = bytearray()
        self.gone = False
        self.kept = prefork.high(os.memfd_create("rlenv"))

    def say(self, kind: int, *parts: bytes) -> None:
        self.outbox += wire.frame(kind, *parts)

    def flush(self) -> None:
        """Send what can be sent without waiting."""
        try:
            while self.outbox:
                del self.outbox[: os.write(self.outward, self.outbox)]
        except BlockingIOError:
            return
        except OSError:
            self.gone = True

    def flush_all(self) -> None:
        os.set_blocking(self.outward, True)
        self.flush()
        os.set_blocking(self.outward, False)

    def hear(self) -> None:
        """Take in what the judge sent."""
        try:
            data = os.read(self.inward, 1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.inbox += data
        self.gone = self.gone or not data

    def look(self, run: Run) -> bool:
        """Wait for something to happen, and take it in; True once the run has ended."""
        if run.on and run.failure:
            return True
        poll = select.poll()
        poll.register(self.inward, select.POLLIN)
        poll.register(self.bell, select.POLLIN)
        if self.outbox:
            poll.register(self.outward, select.POLLOUT)
        self._register(poll, run)
        seconds = None if run.deadline is None or run.order else run.deadline - time.monotonic()
        ready = dict(poll.poll(None if seconds is None else max(0, seconds * 1000)))
        if self.inward in ready:
            self.hear()
        if self.outward in ready:
            self.flush()
        if self.bell in ready:
            os.read(self.bell, 4096)
            if run.has_ended():
                run.look()
            while reap(run, os.WNOHANG):
                pass
        if run.on:
            self._carry(run, ready)
            if not run.order and run.deadline is not None and time.monotonic() >= run.deadline:
                run.stop(wire.WALL)
        return run.on and (run.status is not None or run.failure != 0)

    def _register(self, poll: select.poll, run: Run) -> None:
        if not run.on:
            return
        if not run.began and not run.said:
            poll.register(run.ours, select.POLLIN)
        room = len(self.outbox) < _OUTBOX
        for fd, over in zip(run.fds, run.over):
            if room and not over and fd != NOT_YET:
                poll.register(fd, select.POLLIN)
        interest = (select.POLLIN if room and not run.silent else 0) | (
            select.POLLOUT if run.inward else 0
        )
        if interest:
            poll.register(run.fds[2], interest)

    def _carry(self, run: Run, ready: dict[int, int]) -> None:
        if not run.began and (run.ours.fileno() in ready or run.fds[2] in ready):
            self._began(run)
        for place, kind in ((0, wire.OUT), (1, wire.ERR)):
            if run.fds[place] in ready:
                self._output(run, place, kind)
        channel = run.fds[2]
        if ready.get(channel, 0) & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._from_program(run)
        if run.inward:
            self._to_program(run)
        self.flush()

    def _began(self, run: Run) -> None:
        try:
            said, outputs = child.receive(run.ours)
        except OSError:
            return
        run.began = said == child.STARTED
        if said and not run.began:
            run.said = said[1:]
        if run.began:
            run.begins(outputs)
            self.say(wire.BEGAN)

    def _output(self, run: Run, place: int, kind: int) -> bool:
        """One piece of standard output or error; False when there is no more now."""
        if run.fds[place] == NOT_YET:
            return False
        try:
            data = os.read(run.fds[place], _CHUNK)
        except BlockingIOError:
            return False
        kept = data[: run.room[place]]
        run.room[place] -= len(kept)
        run.truncated = run.truncated or len(kept) < len(data)
        if kept:
            self.say(kind, kept)
        run.over[place] = not data
        return bool(data)

    def _from_program(self, run: Run) -> bool:
        if run.silent:
            return False
        try:
            data = os.read(run.fds[2], _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if data:
            run.answered = time.monotonic()
            self.say(wire.DATA, data)
            return True
        run.silent = True
        self.say(wire.SILENT)
        return False

    def _to_program(self, run: Run) -> None:
        try:
            sent = os.write(run.fds[2], run.inward)
        except BlockingIOError:
            return
        except OSError:
            sent = len(run.inward)
            if not run.deaf:
                run.deaf = True
                self.say(wire.DEAF)
        del run.inward[:sent]
        run.taken += sent
        if run.taken >= wire.AHEAD // 4:
            self.say(wire.TAKEN, struct.pack("<I", run.taken))
            run.taken = 0

    def obey(self, run: Run) -> None:
        """Do what the judge ordered."""
        while True:
            order = wire.first(self.inbox, _MOST)
            if order is None:
                return
            kind, body = order
            if kind == wire.START and not run.on:
                run.start(body)
            elif kind == wire.DATA and run.on:
                run.hear()
                run.inward += body
                self._to_program(run)
            elif kind == wire.KILL and run.on:
                if wire.KILL_BODY.unpack(body)[0]:
                    run.hear()
                run.stop(wire.KILLED)
            elif kind == wire.ASK:
                run.look()
                self.say(wire.STATE, wire.STATE_BODY.pack(run.delay, run.asked, cpu_of_all()))
        return

    def one_apart(self, plan: Plan) -> bool:
        """One run, carried by a process of its own.

        False when the judge is gone, or that process broke.
        """
        near, far = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.close(near)
                if not plan.gvisor:  # which cannot; there the machine counts what a run uses
                    linux.adopt_orphans()
                if self.one(plan):
                    os.write(far, _GOES_ON)
            finally:
                os._exit(0)
        os.close(far)
        goes_on = os.read(near, 1) == _GOES_ON
        os.close(near)
        if not goes_on:
            kill_all()
        _reap_all()
        linux.forget(pid)
        return goes_on

    def one(self, plan: Plan) -> bool:
        """One run, from the fork to its END; False when the judge is gone."""
        run = Run(plan)
        try:
            self._take_up()
            self.obey(run)
            while not self.look(run):
                if self.gone:
                    return False
                self.obey(run)
                self.flush()
            self._rest(run, plan)
        finally:
            run.close()
        self.flush_all()
        self._leave()
        return not self.gone

    def _take_up(self) -> None:
        """Take what was read and not used while the last run was carried."""
        self.inbox += os.pread(self.kept, os.fstat(self.kept).st_size, 0)
        os.ftruncate(self.kept, 0)

    def _leave(self) -> None:
        """Leave what was read and not used for who carries the next run."""
        os.pwrite(self.kept, self.inbox, 0)

    def _rest(self, run: Run, plan: Plan) -> None:
        """Take in what a run left in its pipes, and tell its end."""
        run.clear()
        if not run.began:
            self._began(run)
        for place, kind in ((0, wire.OUT), (1, wire.ERR)):
            while run.fds and not run.over[place] and self._output(run, place, kind):
                pass
        while run.fds and self._from_program(run):
            pass
        if plan.workspace[0]:
            self._hand_over(plan)
        self.say(wire.END, run.report(plan))

    def _hand_over(self, plan: Plan) -> None:
        """Tell what the run left in its workspace; first of all, that the run has ended."""
        left = bytearray()

        def send(piece: bytes = b"", least: int = _OUTBOX) -> None:
            left.extend(piece)
            if len(left) >= least and not self.gone:
                self.say(wire.TREE, bytes(left))
                self.flush_all()
                left.clear()

        send(least=0)
        tree.pack(tree.WORKDIR, *plan.workspace, send)
        send(least=0)


def _reap_all() -> None:
    """Wait for all that is left, which has been killed; what is learned of it is not kept."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.wait()
            linux.forget(pid)
            linux.forget(status)


def _streams() -> list[int]:
    """Our two streams, out of the way of a program's descriptors."""
    found = [prefork.high(0), prefork.high(1)]
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return found


def _bell() -> int:
    """A descriptor that can be read once a child has ended."""
    near, far = os.pipe()
    near = prefork.high(near)
    far = prefork.high(far)
    os.set_blocking(near, False)
    os.set_blocking(far, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(far, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return near


def _prepared(relay: Relay) -> Plan | None:
    """The plan that the judge's CONFIG asks for; None after it was told what went wrong."""
    while True:
        order = wire.first(relay.inbox, _MOST)
        if order is not None:
            break
        relay.hear()
        if relay.gone:
            os._exit(0)
    step = "preparation"
    try:
        if os.getpid() != 1:
            raise RuntimeError("the relay is not the first process of its container")
        config = json.loads(order[1])
        plan = Plan(config)
        step = "preload"
        zygote.warm(config, plan)
    except BaseException as error:  # noqa: BLE001 - a module may raise anything
        said = {"failed": "%s: %s" % (type(error).__name__, error), "step": step}
        relay.say(wire.FAILED, json.dumps(said).encode())
        relay.flush_all()
        return None
    about = {"landlock": plan.landlock, "gvisor": plan.gvisor, "folders": plan.folders}
    about["renewed"] = plan.renewal is not None
    relay.say(wire.READY, json.dumps(about).encode())
    relay.flush_all()
    return plan


def main() -> None:
    inward, outward = _streams()
    relay = Relay(inward, outward, _bell())
    plan = _prepared(relay)
    if plan is None:
        return
    os.set_blocking(relay.inward, False)
    os.set_blocking(relay.outward, False)
    linux.dumpable(0)
    os.umask(0o022)
    gc.collect()
    gc.freeze()
    once = relay.one if plan.renewal is None else relay.one_apart
    while once(plan):
        pass


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
