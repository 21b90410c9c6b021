"""Processes that use workers and then end in one way or another: ``callers.py NAME ARGS``."""

from __future__ import annotations

import os
import sys
import time


def pool():
    from rlenv.workers import Pool

    return Pool(1)


def deeds(seconds=b"600"):
    from rlenv.workers import Program

    return Program("deeds:Runner", seconds)


def pid_of_worker(of):
    return of.submit(deeds(), ("pid",)).result(60).value


def spin(deed, path):
    mine = pool()
    if deed == "regex":
        with open(path, "w") as file:
            print(pid_of_worker(mine), pid_of_worker(mine), file=file)
        mine.submit(deeds(), (deed,)).result()
    mine.submit(deeds(), (deed, path)).result()


def fork_and_spin(path, child):
    mine = pool()
    pid_of_worker(mine)
    if os.fork() == 0:
        with open(child, "w") as file:
            print(os.getpid(), file=file)
        time.sleep(600)
    mine.submit(deeds(), ("grandchild", path)).result()


def fork():
    mine = pool()
    print(pid_of_worker(mine), flush=True)
    child = os.fork()
    if child == 0:
        print(pid_of_worker(mine), flush=True)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(pid_of_worker(mine), status, flush=True)


def exit_without_close():
    print(pid_of_worker(pool()), flush=True)


def exit_while_busy():
    mine = pool()
    print(pid_of_worker(mine), flush=True)
    mine.submit(deeds(), ("regex",))


def exit_by_exception():
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    exit_while_busy()
    raise LookupError


def light():
    import rlenv

    before = set(sys.modules)
    print(rlenv.__name__, *(name for name in before if name.startswith("rlenv.workers")))
    import rlenv.workers

    print(*sorted(set(sys.modules) - before))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
