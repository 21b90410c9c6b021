"""Hundreds of items, one in twenty of them deadly."""

from __future__ import annotations

import random

import pytest
from rlenv.workers import Done, Pool, Program

DEADLY = {
    "spin": "timeout",
    "sleep": "timeout",
    "regex": "timeout",
    "eat": "memory",
    "leave": "crash",
}


@pytest.mark.parametrize(
    "each",
    [1, pytest.param(10, marks=pytest.mark.slow)],  # kills a worker 50 times
)
def test_every_other_item_is_right_and_no_worker_is_lost(each):
    deeds = [deed for deed in DEADLY for _ in range(each)]
    payloads = [(deed,) for deed in deeds] + [("echo", n) for n in range(95 * each)]
    random.Random(7).shuffle(payloads)
    with Pool(2, 128) as pool:
        results = dict(pool.stream(Program("deeds:Runner", b""), payloads))
        assert sorted(results) == list(range(len(payloads)))
        for index, payload in enumerate(payloads):
            name, *args = payload
            if name not in DEADLY:
                assert results[index] == Done(args)
            else:
                assert results[index].kind in {DEADLY[name], "timeout"}
        pids = dict(pool.stream(Program("deeds:Runner", b"60"), [("sleep", 0.2), ("sleep", 0.2)]))
        assert list(pids.values()) == [Done(0.2)] * 2
