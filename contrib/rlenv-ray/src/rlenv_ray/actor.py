"""What runs in an actor: environments, each with worker processes of its own."""

from __future__ import annotations

import pickle

from rlenv import Environment
from rlenv_cli.scores import verdict_to_dict

from .replies import dumps
from .shipment import Shipment, differences, opened


class EnvironmentActor:
    """An actor.  It answers with JSON, whatever happens: Ray would unpickle an exception in the caller.

    Args:
        workers: how many worker processes an environment has.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._environments: dict[str, Environment] = {}

    def open(self, shipment: Shipment) -> bytes:
        """Load an environment: ``{"problems": [text]}``, none where it is the same as the caller's."""
        try:
            env = opened(shipment.what)
            self._environments[shipment.key] = env
            return dumps({"problems": differences(shipment, env)})
        except Exception as error:  # noqa: BLE001 - any class may come of loading
            return dumps({"problems": [_told(error)]})

    def evaluate(self, key: str, rows: bytes) -> bytes:
        """The verdicts on pickled (task, response) pairs: ``{"verdicts": [record]}``, or ``{"error": text}``."""
        try:
            pairs = pickle.loads(rows)  # noqa: S301 - our caller's bytes
            found = self._environments[key].evaluate_many(pairs, self._workers)
            return dumps({"verdicts": [verdict_to_dict(verdict) for verdict in found]})
        except Exception as error:  # noqa: BLE001 - a task may hold an object that does not load here
            return dumps({"error": _told(error)})


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
