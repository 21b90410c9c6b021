"""How a request reaches a judge: HTTP, retries, limits, budget, cache, failover.

The requests of HTTP/1.1 are written and read here (``wire``, ``link``, ``http``), on asyncio's own connections:
one question and one answer of JSON need a tenth of what HTTP clients do, and with 64 in flight a client's own
time decides how well a fast server is used.
"""
