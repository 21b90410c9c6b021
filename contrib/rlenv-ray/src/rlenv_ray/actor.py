"""What runs in an actor: environments, each with worker processes of its own."""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import takewhile

from rlenv import Environment
from rlenv_cli.scores import verdict_to_dict

from .replies import dumps
from .rows import rows_of
from .shipment import Shipment, differences, opened

KEPT = 8  # environments that an actor keeps, with those that no call uses


class EnvironmentActor:
    """An actor.  It answers with JSON, whatever happens: Ray would unpickle an exception in the
    caller.

    Args:
        workers: how many worker processes an environment has.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._environments: dict[str, Environment] = {}  # the one that was opened last is the last
        self._users = defaultdict[str, set[str]](set)  # of each environment

    def open(self, shipment: Shipment, user: str) -> bytes:
        """Load an environment: ``{"problems": [text]}``, none where it is the same as the caller's.

        Args:
            shipment: the environment.
            user: names the call that needs it, until ``leave``.
        """
        key = shipment.key
        try:
            if key not in self._environments:
                env = opened(shipment.what)
                if lines := differences(shipment, env):
                    env.close()
                    return dumps({"problems": lines})
                self._environments[key] = env
        except Exception as error:  # noqa: BLE001 - any class may come of loading
            return dumps({"problems": [_told(error)]})
        self._environments[key] = self._environments.pop(key)
        self._users[key].add(user)
        self._close_unused()
        return dumps({"problems": []})

    def leave(self, key: str, user: str) -> None:
        """One user less; the environment stays while there is room, since the next call may need
        the same.
        """
        self._users[key].discard(user)
        self._close_unused()

    def evaluate(self, key: str, rows: bytes) -> bytes:
        """The verdicts on ``pickled_rows``: ``{"verdicts": [record]}``, or ``{"error": text}``.

        Cancelled, it ends with the next verdict, and what has not begun is dropped.
        """
        try:
            found = self._environments[key].evaluate_many(rows_of(rows), self._workers)
            wanted = takewhile(lambda _: not _is_cancelled(), found)
            return dumps({"verdicts": [verdict_to_dict(verdict) for verdict in wanted]})
        except Exception as error:  # noqa: BLE001 - a task may hold an object that does not load here
            return dumps({"error": _told(error)})

    def _close_unused(self) -> None:
        unused = [key for key in self._environments if not self._users[key]]
        for key in unused[: max(0, len(self._environments) - KEPT)]:
            self._environments.pop(key).close()
        for key in self._users.keys() - self._environments.keys():
            del self._users[key]


def _is_cancelled() -> bool:
    """Whether Ray's caller of this task waits for it no more; an older Ray does not say."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return False
    asked = getattr(ray.get_runtime_context(), "is_canceled", None)
    return asked is not None and bool(asked())


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
