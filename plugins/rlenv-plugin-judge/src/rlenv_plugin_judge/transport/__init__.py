"""How a request reaches a judge: HTTP, retries, limits, budget, cache, failover.

aiohttp carries the requests: with 64 in flight it makes five to eight times the requests of httpx2
on the same machine at a sixth of the CPU, for 9 MB more on disk; httpx has had no release since
2024-12. It is imported with the first call.
"""
