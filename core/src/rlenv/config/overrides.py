"""Options set from outside the file: ``{"math/equal.unparsed": "text"}``, ``--set math/equal.unparsed=text``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlenv.near import suggest

from .problems import Problems, at


class Overrides:
    """What ``set_options`` says, and which of it has found its stage."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = {key: parse_value(value) for key, value in settings.items()}
        self._used: set[str] = set()
        self._stages: set[str] = set()

    def apply(
        self, options: Mapping[str, Any], names: tuple[str, ...], path: str, problems: Problems
    ) -> dict[str, Any]:
        """The options of one stage, known by ``names`` (path, name, use), with the settings put in."""
        self._stages.update(names)
        merged = dict(options)
        for key, value in self._settings.items():
            stage, dot, option = key.rpartition(".")
            if dot and option and stage in names:
                merged[option] = value
                self._used.add(key)
                problems.origins[at(path, option)] = f'setting "{key}"'
        return merged

    def leftovers(self, problems: Problems) -> None:
        """Note the settings that no stage took."""
        for key in self._settings:
            stage, dot, option = key.rpartition(".")
            if not dot or not stage or not option:
                problems.add(f'setting "{key}"', "expected STAGE.OPTION, as in math/equal.unparsed")
            elif key not in self._used:
                hint = suggest(stage, self._stages, what="the stages are")
                problems.add(
                    f'setting "{key}"', f'no stage is named "{stage}"; {hint}'.rstrip("; ")
                )


def parse_value(text: Any) -> Any:
    """A text as the TOML value that it spells (``3``, ``true``, ``[1, 2]``), else the text itself."""
    if not isinstance(text, str):
        return text
    from tomli import loads

    try:
        found = loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value, kinds = found["value"], (bool, int, float, str, list, dict)
    return value if len(found) == 1 and isinstance(value, kinds) else text
