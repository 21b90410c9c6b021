"""Stages that leave something behind in their worker with every response, or with one."""

from __future__ import annotations

import builtins
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress

from attrs import frozen
from rlenv import Attempt, Outcome

KEPT: list[object] = []


class Refuses:
    def find_spec(self, *_: object) -> None:
        raise ImportError("hook says no")


def leak(what: str) -> None:
    if what == "descriptor":
        KEPT.append(os.open(os.devnull, os.O_RDONLY))
    elif what == "thread":
        thread = threading.Thread(target=threading.Event().wait, daemon=True)
        thread.start()
    elif what == "memory":
        KEPT.append(bytearray(20 << 20))
    elif what == "child":
        subprocess.Popen(["/bin/sleep", "3600"])
    elif what == "hook":
        sys.meta_path.insert(0, Refuses())
    elif what == "builtin":
        builtins.len = None  # type: ignore[assignment]
    elif what == "add":
        builtins._ = str  # type: ignore[attr-defined]
    elif what == "replace for a while":
        kept = len
        builtins.len = None  # type: ignore[assignment]
        del builtins.len
        builtins.len = kept
    elif what == "streams":
        for fd in (0, 1, 2):
            os.close(fd)
    elif what == "no streams":
        vars(sys).update(stdout=None, stderr=None)
    elif what == "no variables":
        os.environ.clear()
    elif what == "nonsense":
        for fd in range(3, 256):
            with suppress(OSError):
                os.set_blocking(fd, False)
                os.write(fd, b"\x07" * 4096)
        time.sleep(0.2)
    elif what == "print":
        sys.stdout.write("x" * 20_000)
        assert os.environ["PATH"]
    elif what == "pickle":
        pickle.dumps = lambda *_: b"junk"
    elif what == "many descriptors":
        while True:
            KEPT.append(os.open(os.devnull, os.O_RDONLY))


@frozen
class Leaks:
    """Leaves behind what a response names, or ``always``, and is right unless it says ``wrong``."""

    phase = "execute"
    always: str = ""

    def check(self, attempt: Attempt) -> Outcome:
        leak(self.always or attempt.response)
        if attempt.response == "slow":
            time.sleep(0.01)
        import colorsys

        sys.modules.pop("colorsys")
        assert len(colorsys.__name__) == 8
        with open(os.devnull):
            pass
        if attempt.response == "late hook":  # which this response does not meet
            leak("hook")
        return Outcome(float(attempt.response != "wrong"), private={"pid": os.getpid()})


@frozen
class LeaksOnLoop:
    """The same, asynchronous."""

    phase = "execute"
    always: str = ""

    async def check(self, attempt: Attempt) -> Outcome:
        return Leaks(self.always).check(attempt)
