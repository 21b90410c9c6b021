"""Streams: lazy, bounded, complete, and undisturbed by what dies in them."""

from __future__ import annotations

import itertools
import threading

import pytest
from rlenv.workers import Done, Pool, Program, items

DEEDS = Program("deeds:Runner", b"")
TRIVIAL = Program("deeds:trivial", b"")


def test_every_payload_gets_its_own_result(pool):
    results = list(pool.stream(TRIVIAL, ((f"task {n}", "text") for n in range(5000))))
    assert sorted(index for index, _ in results) == list(range(5000))
    assert all(result.value[0] == f"task {index}" for index, result in results)


def test_an_empty_stream_is_empty(pool):
    assert list(pool.stream(TRIVIAL, ())) == []


def test_a_payload_of_none_is_not_sent_and_costs_no_other(pool):
    results = dict(pool.stream(TRIVIAL, (None if n % 2 else ("task", "text") for n in range(400))))
    assert sorted(results) == list(range(400))
    assert all(getattr(results[n], "kind", "") == ("unsent" if n % 2 else "") for n in results)


def test_a_stream_of_nothing_but_none_starts_no_worker():
    with Pool(1) as fresh:
        assert [result.kind for _, result in fresh.stream(TRIVIAL, [None] * 9)] == ["unsent"] * 9
        assert fresh._dispatcher is None


def test_payloads_are_pulled_lazily(pool):
    pulled = itertools.count()
    stream = pool.stream(
        TRIVIAL, ((str(next(pulled)), "") for _ in itertools.repeat(None)), window=50
    )
    for _ in range(200):
        next(stream)
    stream.close()
    assert next(pulled) <= 250


def test_results_do_not_wait_for_a_slow_source(pool):
    asked = threading.Event()

    def source():
        yield ("a", "")
        assert asked.wait(30), "the first result waited for the second payload"
        yield ("b", "")

    stream = pool.stream(TRIVIAL, source())
    got = next(stream) if asked.set() is None else None
    assert {got[0], *(index for index, _ in stream)} == {0, 1}


def test_a_stream_gets_no_further_ahead_of_its_slowest_payload(pool, monkeypatch):
    monkeypatch.setattr(items, "LEAD", 100)
    pulled = itertools.count()
    deeds = itertools.chain([("sleep", 1.0)], itertools.repeat(("echo", 1), 3000))
    stream = pool.stream(
        Program("deeds:Runner", b"60"), (deed for deed in deeds if next(pulled) >= 0), window=50
    )
    ahead = next(next(pulled) for index, _ in stream if index == 0)

    assert 100 <= ahead <= 200
    assert sum(1 for _ in stream) <= 3000


def test_large_payloads_are_bounded_by_their_size(pool):
    size = 8 << 20
    pulled = itertools.count()
    payloads = ((str(next(pulled)), "x" * size) for _ in range(40))
    stream = pool.stream(TRIVIAL, payloads)
    next(stream)
    assert next(pulled) < 20
    assert sum(1 for _ in stream) > 20


def test_a_closed_stream_drops_what_has_not_begun():
    with Pool(1) as pool:
        stream = pool.stream(Program("deeds:Runner", b"60"), itertools.repeat(("sleep", 0.05)))
        next(stream)
        stream.close()
        assert pool.submit(DEEDS, ("echo", 1)).result(60) == Done([1])


def test_a_broken_source_raises_and_the_pool_lives_on(pool):
    def source():
        yield ("echo", 1)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(pool.stream(DEEDS, source()))
    assert pool.submit(DEEDS, ("echo", 1)).result(60) == Done([1])


def test_a_payload_that_does_not_pickle_is_an_error_of_its_own(pool):
    results = dict(pool.stream(TRIVIAL, [("a", ""), (lambda: None,), ("b", "")]))
    assert [results[n].__class__.__name__ for n in range(3)] == ["Done", "Failed", "Done"]
    assert (results[1].kind, "does not pickle" in results[1].message) == ("unsent", True)


def test_batch_mates_of_the_killed_keep_their_results(pool):
    payloads = [("spin",) if n % 100 == 50 else ("echo", n) for n in range(300)]
    results = dict(pool.stream(DEEDS, payloads))
    assert [n for n in results if results[n].__class__.__name__ == "Failed"] == [50, 150, 250] or (
        sorted(n for n in results if results[n] != Done([n])) == [50, 150, 250]
    )


def test_items_behind_a_slow_one_go_to_another_worker():
    slow = Program("deeds:Runner", b"120")
    with Pool(2) as pool:
        list(pool.stream(slow, [("echo", n) for n in range(3000)]))  # now items look cheap
        stream = pool.stream(slow, [("sleep", 60.0), *[("echo", n) for n in range(100)]])
        first = [next(stream) for _ in range(100)]
        assert 0 not in dict(first)
        stream.close()


def test_two_streams_and_submits_share_a_pool_fairly():
    with Pool(1) as pool:
        slow = Program("deeds:Runner", b"60")
        long = pool.stream(slow, itertools.repeat(("sleep", 0.2)), window=1000)
        next(long)
        assert pool.submit(slow, ("echo", 1)).result(60) == Done([1])  # not after 1000 naps
        assert dict(pool.stream(slow, [("echo", 2)])) == {0: Done([2])}
        long.close()


def test_many_threads_may_use_one_pool(pool):
    def work(name):
        got = dict(pool.stream(TRIVIAL, ((f"{name} {n}", "") for n in range(500))))
        wrong.extend(n for n in range(500) if got[n].value[0] != f"{name} {n}")

    wrong: list[int] = []
    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
