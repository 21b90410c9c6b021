"""Work that sometimes waits, written once and run with or without an event loop.

Steps are a generator: it yields each future or awaitable that it waits for, is sent what that came
to, and returns a result.  Steps that wait for nothing cost no more than a call::

    def total(urls: Sequence[str]) -> Steps[int]:
        sizes = [len(cached[url]) for url in urls if url in cached]
        for url in urls:
            if url not in cached:
                page = yield from wait(download(url))  # a coroutine
                sizes.append(len(page))
        return sum(sizes)

    run_steps(total(urls), asyncio.run)  # blocks this thread while they wait
    await await_steps(total(urls))  # leaves the event loop free
"""

from __future__ import annotations

from .engine.engine import Future, Steps, Waited, await_steps, run_steps, wait

__all__ = ["Future", "Steps", "Waited", "await_steps", "run_steps", "wait"]
