"""Instruction ids as constraints: parameters checked, then the table of the constraint they
mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlenv import ConfigError
from rlenv.authoring import suggest

from .instructions import INSTRUCTIONS

__all__ = ["parameters", "spec_of", "specs_of"]

_WORDS = {int: "an integer", str: "a string", list: "a list of strings"}
_RELATIONS = ("less than", "at least")


def specs_of(instructions: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The tables that the instructions of one task mean, each in the light of the others.

    An end phrase may be in the letter case that all of the response has, and follow a postscript.

    Args:
        instructions: the id of each, and its parameters.

    Raises:
        ConfigError: as ``spec_of`` does, for all of them at once.
    """
    specs: list[dict[str, Any]] = []
    problems: list[str] = []
    for name, kwargs in instructions:
        try:
            specs.append(dict(spec_of(name, kwargs)))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(*problems)
    kinds = {spec["kind"]: spec for spec in specs}
    if "ends_with" in kinds:
        kinds["ends_with"]["case"] = not any(
            name.startswith("change_case:english") for name, _ in instructions
        )
        kinds.get("postscript", {})["then"] = kinds["ends_with"]["text"]
    return specs


def spec_of(instruction_id: str, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table, ``{"kind": …}``, of the constraint that an instruction id means.

    Args:
        instruction_id: of IFEval or IFBench, such as ``"keywords:existence"``.
        kwargs: its parameters, as the benchmarks publish them: those that are null do not count.

    Raises:
        ConfigError: for an unknown id, and for each parameter that is missing, unknown or of
            another type.
    """
    given = parameters(instruction_id, kwargs)
    return INSTRUCTIONS[instruction_id].spec(given)


def parameters(instruction_id: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an instruction, whole and of the right types; 5.0 is 5.

    Raises:
        ConfigError: naming the id and every key that is wrong.
    """
    if instruction_id not in INSTRUCTIONS:
        hint = suggest(instruction_id, INSTRUCTIONS, what="the ids are IFEval's and IFBench's:")
        raise ConfigError(f"there is no instruction {instruction_id!r}; {hint}")
    wanted = INSTRUCTIONS[instruction_id].parameters
    given = {key: value for key, value in kwargs.items() if value is not None}
    problems = [
        f"{instruction_id}: unknown parameter {key!r}; it takes {', '.join(wanted) or 'none'}"
        for key in given
        if key not in wanted
    ]
    fitted = {}
    for key, kind in wanted.items():
        if key not in given:
            problems.append(f"{instruction_id}: {key!r} is missing: give {_WORDS[kind]}")
        elif (value := _fit(given[key], kind)) is None:
            problems.append(
                f"{instruction_id}: {key} = {given[key]!r:.80}, expected {_WORDS[kind]}"
            )
        elif "relation" in key and value not in _RELATIONS:
            problems.append(f'{instruction_id}: {key} is "less than" or "at least", not {value!r}')
        else:
            fitted[key] = value
    if problems:
        raise ConfigError(*problems)
    return fitted


def _fit(value: Any, kind: type) -> Any:
    if kind is int:
        whole = (
            isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
        )
        return int(value) if whole and value >= 0 else None
    if kind is str:
        return value if isinstance(value, str) and value else None
    texts = (
        isinstance(value, list | tuple) and value and all(isinstance(v, str) and v for v in value)
    )
    return list(value) if texts else None
