"""How hard an endpoint may be worked, and how often it is asked again."""

from __future__ import annotations

from attrs import frozen


@frozen
class Rate:
    """At most so many requests and tokens a minute; None is no limit."""

    requests: float | None = None
    tokens: float | None = None


@frozen
class Retries:
    """``times`` more tries, waiting up to ``base * 2**n`` seconds (at most ``cap``), or as
    ``Retry-After`` says (at most ``after_cap``).
    """

    times: int = 4
    base: float = 0.5
    cap: float = 20.0
    after_cap: float = 60.0


@frozen
class Limits:
    """What may be spent in all: calls, tokens, money; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
