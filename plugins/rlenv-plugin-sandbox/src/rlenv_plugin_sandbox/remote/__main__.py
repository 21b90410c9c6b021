"""``python -m rlenv_plugin_sandbox.remote``."""

from __future__ import annotations

from .command import command

command(prog_name="python -m rlenv_plugin_sandbox.remote")
