"""How a request reaches a judge: HTTP, retries, limits, budget, cache, failover."""
