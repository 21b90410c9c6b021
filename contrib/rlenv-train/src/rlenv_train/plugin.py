"""Reward functions of trainers and frameworks as stages: ``train/trl``, ``train/verl`` and others.

Importing this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv.hooks import Examples, hookimpl

RLENV_API = 1
_HOME = "rlenv_train.imports"


@hookimpl
def rlenv_stages() -> Mapping[str, str]:
    """The stages, as targets that are imported when they are used."""
    return {
        "trl": f"{_HOME}.trl:Trl",
        "verl": f"{_HOME}.verl:Verl",
        "verifiers": f"{_HOME}.verifiers:Verifiers",
        "inspect": f"{_HOME}.inspect:Inspect",
        "reasoning-gym": f"{_HOME}.reasoning_gym:ReasoningGym",
    }


@hookimpl
def rlenv_parts() -> Mapping[str, Mapping[str, str]]:
    """The tasks of reasoning-gym, for ``[tasks] use = "train/reasoning-gym"``."""
    return {"task-source": {"reasoning-gym": f"{_HOME}.reasoning_gym:reasoning_gym_tasks"}}


@hookimpl
def rlenv_examples() -> Mapping[str, Examples]:
    """Responses that are certainly right or wrong, with functions as people write them for each
    framework.
    """
    from .imports.examples import EXAMPLES

    return EXAMPLES
