"""Tickets of several processes, some of which are killed: none is lost, and none is judged twice
for the caller.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time

import pytest
from rlenv_train.tickets import SqliteStore

PROGRAM = """
import os, sys, time, rlenv
from rlenv import Environment, Task
from rlenv_train.tickets import Tickets

@rlenv.stage(where="inline")
def noted(response):
    time.sleep(0.002)
    fd = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (response + "\\n").encode())
    os.close(fd)
    return len(response) / 10

def main():
    with (
        Environment("noted", noted, [Task("q", id="q")]) as env,
        Tickets(env, sys.argv[1], judges=2) as tickets,
    ):
        own = []
        for n in range(int(sys.argv[3])):
            ticket = tickets.submit("q", "x" * (n % 9) + "y")
            own.append(ticket.id)
            print(f"{ticket.id} {n % 9}\\n", end="", flush=True)  # one write: a kill cuts no line
        for name in [*own, *sys.stdin] if sys.argv[4:] else ():
            assert tickets.get(name.strip()).wait(60) == "done"

main()
"""


def program(tmp_path, count, *rest):
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, "program.py", "t.sqlite", "judged", str(count), *rest]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, cwd=tmp_path, stdin=pipe, stdout=pipe, text=True)


def ids(lines):
    return [line.split()[0] for line in lines]


def checked(tmp_path, submitted):
    """Every submitted ticket is in the store with the verdict of its own response."""
    store = SqliteStore(tmp_path / "t.sqlite")
    for line in submitted:
        name, size = line.split()
        verdict = json.loads(asyncio.run(store.result(name)))
        assert verdict["value"] == pytest.approx((int(size) + 1) / 10)
    store.close()


def test_two_processes_judge_no_ticket_twice(tmp_path):
    both = [program(tmp_path, 20, "wait") for _ in range(2)]
    printed = [[each.stdout.readline() for _ in range(20)] for each in both]
    for each in both:
        each.communicate("\n".join(ids([*printed[0], *printed[1]])), timeout=120)

    assert [each.returncode for each in both] == [0, 0]
    checked(tmp_path, [*printed[0], *printed[1]])
    assert len((tmp_path / "judged").read_text().splitlines()) == 40


@pytest.mark.slow  # ten processes are killed
def test_no_ticket_is_lost_by_ten_kills(tmp_path):
    seed = random.randrange(10_000)
    print("seed", seed)
    chance = random.Random(seed)
    submitted = []
    for _ in range(10):
        running = program(tmp_path, 10_000)
        submitted += [running.stdout.readline() for _ in range(chance.randrange(1, 30))]
        time.sleep(chance.random() / 20)
        running.send_signal(signal.SIGKILL)
        lines = running.stdout.read().splitlines(keepends=True)
        submitted += [line for line in lines if line.endswith("\n")]
        running.wait()
        running.stdout.close()
        running.stdin.close()
    last = program(tmp_path, 1, "wait")
    submitted += last.communicate("\n".join(ids(submitted)), timeout=300)[0].splitlines()

    assert last.returncode == 0
    assert len(submitted) > 50
    checked(tmp_path, submitted)
