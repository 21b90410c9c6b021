"""Sandboxes for rlenv: the adapters of `rlenv.sandbox`.

Importing this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

__all__ = ["RLENV_API", "rlenv_parts"]

RLENV_API = 1
_HOME = "rlenv_plugin_sandbox"
# Name of each sandbox → its class, imported when it is used; its tier is an attribute of the class.
ADAPTERS = {
    "jail": f"{_HOME}.jail:Jail",
    "docker": f"{_HOME}.docker:Docker",
    "docker+gvisor": f"{_HOME}.docker:DockerGvisor",
    "remote": f"{_HOME}.remote:Remote",
    "process": f"{_HOME}.process:Process",
}


@hookimpl
def rlenv_parts() -> Mapping[str, Mapping[str, str]]:
    """Return the sandboxes, as targets that are imported when they are used."""
    return {"sandbox": ADAPTERS}
