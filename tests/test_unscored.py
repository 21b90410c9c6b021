"""No response can make a stage of a plugin leave it unscored: the law ``unscored``, on the author's
attacks and on bombs.
"""

from __future__ import annotations

import pytest
from rlenv.plugins.registry import registry
from rlenv_testing import subjects
from rlenv_testing.law import LAWS
from rlenv_testing.laws import load
from rlenv_testing.subject import Effort

PLUGINS = ("code", "constraints", "core", "cuda", "judge", "math")
STAGES = [
    f"{plugin}/{stage}"
    for plugin in PLUGINS
    for stage in sorted(registry().supplied(plugin, "rlenv_examples"))
]


def unscored(plugin: str, seconds: float, stage: str | None = None) -> None:
    load()
    for subject in subjects(plugin, stage, effort=Effort(seconds=seconds)):
        try:
            LAWS["unscored"](subject)
        finally:
            subject.close()
        assert subject.counted


@pytest.mark.parametrize("plugin", PLUGINS)
def test_no_response_can_make_a_stage_leave_it_unscored(plugin: str) -> None:
    unscored(plugin, 1.0)


@pytest.mark.slow  # endless programs and suites, each for its whole time
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("use", STAGES)
def test_no_bomb_can_make_a_stage_leave_it_unscored(use: str) -> None:
    plugin, _, stage = use.partition("/")
    unscored(plugin, 90.0, stage)
