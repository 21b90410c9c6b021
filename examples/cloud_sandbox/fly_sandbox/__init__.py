"""Sandboxes in machines of a cloud: an example of the port `rlenv.sandbox`."""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

RLENV_API = 1


@hookimpl
def rlenv_parts() -> Mapping[str, Mapping[str, str]]:
    """The sandbox ``fly/machine``, imported when it is used."""
    return {"sandbox": {"machine": "fly_sandbox.machine:FlyMachine"}}
