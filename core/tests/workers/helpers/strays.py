"""Runners that leave processes behind, each with a variable STRAY in its environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SLEEP = ["/bin/sleep", "3600"]


def nothing(mark):
    """The mark is the name of a file for the number of this process."""
    Path(mark).write_text(str(os.getpid()))


def daemon(mark):
    """A process that its parent's parent does not know."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execve(SLEEP[0], SLEEP, {"STRAY": mark})


def child(mark):
    subprocess.Popen(SLEEP, start_new_session=True, env={"STRAY": mark})


def bomb(mark):
    """200 processes in sessions of their own, each the child of the one before it, that end
    last.
    """
    if os.fork() == 0:
        for _ in range(200):
            os.setsid()
            if os.fork():
                os.execve(SLEEP[0], SLEEP, {"STRAY": mark})
        os.execve(SLEEP[0], SLEEP, {"STRAY": mark})


def spray(mark):
    """200 daemons."""
    for _ in range(200):
        daemon(mark)


def fleeing(mark):
    """One process that moves on to a child in a session of its own, again and again."""
    code = "import os\nwhile True:\n    os.fork() and os._exit(0)\n    os.setsid()"
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", code], {"STRAY": mark})


def stay():
    return True


def leave():
    os._exit(3)


def hang():
    time.sleep(3600)


def kill_guard():
    os.kill(os.getppid(), signal.SIGKILL)
    hang()


def escape():
    """Leave the session and the group by which the guard's children are known, and end the
    guard.
    """
    guard = os.getppid()
    os.setpgid(0, guard)
    os.setsid()
    os.kill(guard, signal.SIGKILL)
    hang()


def stop_guard():
    os.kill(os.getppid(), signal.SIGSTOP)
    hang()


def kill_group():
    os.killpg(0, signal.SIGKILL)


def runner(blob):
    def run(payload, report):
        stray, end, mark = payload
        report.begin(float(blob))
        globals()[stray](mark)
        if end not in ("stay", "escape"):
            limit = time.monotonic() + 20
            while not marked(mark) and time.monotonic() < limit:
                time.sleep(0.01)
        return globals()[end]()

    return run


def marked(mark):
    """The processes with this mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"STRAY={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:  # it has ended
            continue
    return found


def use(end, mark):
    """A caller whose worker has left a daemon and does not end by itself."""
    from rlenv.workers import Pool, Program

    pool = Pool(1)
    pool.submit(Program("strays:runner", b"600"), ("daemon", end, mark)).result()
    sys.stdin.read()


if __name__ == "__main__":
    use(*sys.argv[1:])
