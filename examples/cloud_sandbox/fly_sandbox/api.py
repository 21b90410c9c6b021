"""Fly's Machines API, as far as a sandbox needs it: https://fly.io/docs/machines/api/."""

from __future__ import annotations

import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

from rlenv import ConfigError, Fault, VerifierFault

CALL_S = 30.0
SAID = 300  # characters of an error of the service that are shown
GONE = ("failed", "stopped", "stopping", "suspended", "destroying", "destroyed")
AGAIN_S = (0.2, 0.5, 1.0, 2.0, 5.0)  # between tries where the service does not say how long


class Unavailable(VerifierFault):
    """There is no machine now: the response is unscored, and may be tried again, after so many
    seconds.
    """

    def __init__(self, what: str, after: float | None = None) -> None:
        self.after = after
        super().__init__(Fault("unavailable", f"fly/machine: {what}", transient=True))


class Api:
    """Requests about the machines of one app.  Every call waits.

    Args:
        app: the name of the app.
        url: where the service is.
        key: the variable of the environment with the key, which is read for each request and kept
            nowhere.
    """

    def __init__(self, app: str, url: str, key: str = "FLY_API_TOKEN") -> None:
        if not re.fullmatch(r"[A-Za-z0-9-]{1,63}", app):
            raise ConfigError(
                f"fly/machine: app is a name of letters, digits and '-', not {app!r:.80}"
            )
        self._base = f"{url.rstrip('/')}/v1/apps/{app}/machines"
        self._key = key

    def create(self, name: str, config: dict[str, Any], until: float) -> dict[str, Any]:
        """Make a machine, once: where it is not known whether one was made, the next try looks for
        it first.
        """
        body = {"name": name, "config": {**config, "metadata": {"rlenv": name}}}
        for pause in self._tries(until):
            try:
                return _machine(self.call("POST", "", until, body))
            except Unavailable as broken:
                _sleep(broken, pause, until)
                found = self.ask("GET", f"?{urlencode({'metadata.rlenv': name})}", until)
                if isinstance(found, list) and found:
                    return _machine(found[0])
        raise Unavailable("no machine was made in time")

    def ask(self, method: str, path: str, until: float) -> Any:
        """The answer to a request that may be sent again.

        Raises:
            ConfigError: the service rejects it.
            VerifierFault: the service was not available until this moment of ``time.monotonic``.
        """
        error = Unavailable("the service does not answer in time")
        for pause in self._tries(until):
            try:
                return self.call(method, path, until)
            except Unavailable as broken:
                error = broken
                _sleep(broken, pause, until)
        raise error

    def _tries(self, until: float) -> Iterator[float]:
        number = 0
        while time.monotonic() < until:
            yield AGAIN_S[min(number, len(AGAIN_S) - 1)]
            number += 1

    def call(self, method: str, path: str, until: float, body: object = None) -> Any:
        """The answer to a request that is sent once; raises as ``ask`` does."""
        key = os.environ.get(self._key, "")
        if not key:
            raise ConfigError(f"fly/machine: set {self._key} to a key of the app's organization")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, headers, method=method)
        seconds = max(1.0, min(CALL_S, until - time.monotonic()))
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error, key) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unavailable(f"{method} {path}: {_clean(error, key)}") from None

    def _refused(self, error: urllib.error.HTTPError, key: str) -> Exception:
        said = _clean(error.read(4096).decode("utf-8", "replace"), key)
        if error.code in (401, 403):
            return ConfigError(f"fly/machine: the service does not accept {self._key}: {said}")
        if error.code in (408, 429) or error.code >= 500:
            wait = error.headers.get("Retry-After", "")
            after = float(wait[:9]) if wait.isdecimal() else None
            return Unavailable(f"the service answers {error.code}: {said}", after)
        return ConfigError(f"fly/machine: the service answers {error.code}: {said}")


def _machine(said: Any) -> dict[str, Any]:
    """What the service says of a machine, as far as it is used."""
    if not isinstance(said, dict) or not all(
        isinstance(said.get(k), str) for k in ("id", "private_ip")
    ):
        raise Unavailable("the service answers without the id and the address of a machine")
    return {**said, "id": quote(said["id"], safe="")}


def _sleep(broken: Unavailable, pause: float, until: float) -> None:
    wanted = pause if broken.after is None else broken.after
    time.sleep(max(0.0, min(wanted, until - time.monotonic())))


def _clean(said: object, key: str) -> str:
    """What may be shown of an error: it never holds the key, whatever the service repeats."""
    return str(said).replace(key, "[key]")[:SAID]
