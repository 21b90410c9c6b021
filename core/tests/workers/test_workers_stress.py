"""A thousand items, one in twenty of them deadly."""

from __future__ import annotations

import random

from rlenv.workers import Done, Pool, Program

DEADLY = {
    "spin": "timeout",
    "sleep": "timeout",
    "regex": "timeout",
    "eat": "memory",
    "leave": "crash",
}


def test_every_other_item_is_right_and_no_worker_is_lost():
    deeds = [deed for deed in DEADLY for _ in range(10)]
    payloads = [(deed,) for deed in deeds] + [("echo", n) for n in range(950)]
    random.Random(7).shuffle(payloads)
    with Pool(2, 128) as pool:
        results = dict(pool.stream(Program("deeds:Runner", b""), payloads))
        assert sorted(results) == list(range(1000))
        for index, payload in enumerate(payloads):
            name, *args = payload
            if name not in DEADLY:
                assert results[index] == Done(tuple(args))
            else:
                assert results[index].kind in {DEADLY[name], "timeout"}
        pids = dict(pool.stream(Program("deeds:Runner", b"60"), [("sleep", 0.2), ("sleep", 0.2)]))
        assert list(pids.values()) == [Done(0.2)] * 2
