"""Sandboxes for rlenv: the adapters of `rlenv.sandbox`.

Importing this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import hookimpl

__all__ = ["RLENV_API", "rlenv_parts"]

RLENV_API = 1


@hookimpl
def rlenv_parts() -> Mapping[str, Mapping[str, str]]:
    """The sandboxes, as targets that are imported when they are used."""
    home = "rlenv_plugin_sandbox"
    return {
        "sandbox": {
            "jail": f"{home}.jail:Jail",
            "docker": f"{home}.docker:Docker",
            "docker+gvisor": f"{home}.docker:DockerGvisor",
            "remote": f"{home}.remote:Remote",
            "process": f"{home}.process:Process",
        }
    }
