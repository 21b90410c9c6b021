"""What a probe puts before a stage's eyes: a later clock, a locale with a comma, a sleep that is
noted.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import locale
import sys
import time
from collections.abc import Callable
from typing import Any


def clock(shift: float) -> None:
    """Let all clocks of this process be ``shift`` seconds ahead; before a stage is imported."""
    plain = time.time
    nano = time.time_ns
    _replace("time", lambda: plain() + shift)
    _replace("time_ns", lambda: nano() + int(shift * 1e9))
    for name in ("localtime", "gmtime", "ctime"):
        _replace(name, _defaulting(getattr(time, name)))
    written = time.strftime
    _replace("strftime", lambda form, t=None: written(form, time.localtime() if t is None else t))
    _later(shift)


def _replace(name: str, function: Callable[..., Any]) -> None:
    setattr(time, name, function)


def _defaulting(function: Callable[..., Any]) -> Callable[..., Any]:
    plain = time.time
    return lambda seconds=None: function(plain() if seconds is None else seconds)


def _later(shift: float) -> None:
    ahead = dt.timedelta(seconds=shift)
    real = dt.datetime
    real_date = dt.date

    class Meta(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real if cls.__name__ == "datetime" else real_date)

    def now(cls: type, tz: dt.tzinfo | None = None) -> dt.datetime:  # noqa: ARG001
        return real.now(tz) + ahead

    def today(cls: type) -> dt.date:
        return real.now() + ahead if cls.__name__ == "datetime" else (real.now() + ahead).date()

    def utcnow(cls: type) -> dt.datetime:  # noqa: ARG001
        return real.now(dt.UTC).replace(tzinfo=None) + ahead

    common: dict[str, Any] = {"today": classmethod(today)}
    more = {**common, "now": classmethod(now), "utcnow": classmethod(utcnow)}
    vars(dt)["datetime"] = Meta("datetime", (real,), more)
    vars(dt)["date"] = Meta("date", (real_date,), common)


def comma() -> None:
    """Let ``locale`` write and read 1,5 for 1.5."""
    vars(locale)["_override_localeconv"] = {"decimal_point": ",", "thousands_sep": "."}


def sleeps() -> tuple[list[str], list[str]]:
    """Lists that grow by a place whenever somebody outside rlenv calls ``time.sleep``: anywhere,
    and on a loop.
    """
    noted: list[str] = []
    on_loop: list[str] = []
    sleep = time.sleep

    def noting(seconds: float) -> None:
        caller = sys._getframe(1)
        if not str(caller.f_globals.get("__name__", "")).startswith(("rlenv.", "rlenv_testing.")):
            noted.append(f"{caller.f_code.co_filename}:{caller.f_lineno}")
            if asyncio._get_running_loop() is not None:  # a thread of its own may sleep as it likes
                on_loop.append(noted[-1])
        sleep(min(seconds, 0.2))

    _replace("sleep", noting)
    return noted, on_loop


def calls() -> list[str]:
    """A list that grows by a place whenever somebody waits for ``rlenv.workers.call``."""
    from rlenv.workers import call

    noted: list[str] = []

    class Noting(dict[Any, Any]):
        def get(self, key: Any, default: Any = None) -> Any:
            caller = sys._getframe(2)  # this method is asked for a pool by ``call``
            noted.append(f"{caller.f_code.co_filename}:{caller.f_lineno}")
            return super().get(key, default)

    module = vars(sys.modules[call.__module__])
    module["_pools"] = Noting(module["_pools"])
    return noted
