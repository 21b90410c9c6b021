"""What made a verdict, as one hash: the configuration, the state of stages, the code, the
secret.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any

from attrs import frozen

from rlenv.compose.composites import NUMBERS, Composite, Slot, is_function, target_of
from rlenv.compose.stages import attribute
from rlenv.engine.plan import Plan
from rlenv.model.errors import ConfigError
from rlenv.model.tasks import canonical
from rlenv.plugins.registry import DISTRIBUTION, version

from .code_parts import tells_all
from .content import content_of, is_installed
from .reads import hashes_of_reads
from .secret import key_id
from .state import ATOMS, State

SLOTS = frozenset({"slots"})
EXACT = 1 << 53  # an integer below it is a number with a point, too


@frozen
class Made:
    """What an environment was made of, when it was made.

    Args:
        root: the slots as configured, with the state of their stages.
        tables: the tables that plugins claim.
        packages: the packages that the objects in them come from.
    """

    root: object
    tables: object
    packages: frozenset[str]


def made_of(
    plan: Plan, tables: Mapping[str, object], reject_unsendable: Callable[[Plan], None]
) -> Made:
    """Describe the slots and tables of an environment.

    Args:
        plan: the composition.
        tables: what plugins read of the tables that they claim.
        reject_unsendable: raises what keeps a stage from its worker, which says more of the remedy
            than what keeps it from a fingerprint.

    Raises:
        ConfigError: a stage or table holds an object whose state cannot be seen.
    """
    state = State()
    try:
        root = _stage(plan.root.slot, state)
        read = {
            name: [target_of(table), state.of(table, f"[{name}]")] for name, table in tables.items()
        }
    except RecursionError:
        raise ConfigError("what the stages hold is nested too deep for a fingerprint") from None
    except ConfigError:
        reject_unsendable(plan)
        raise
    return Made(root, read, frozenset(state.packages))


def fingerprint(plan: Plan, made: Made, pass_mark: float, thinking: str) -> str:
    """Hash what verdicts depend on: slots, the state of stages, tables, pass mark, hidden parts and
    code.

    Where a stage draws random inputs, the id of the secret's key counts too: other inputs may give
    other verdicts.

    A stage counts with all that it holds; ``rlenv.identity.state`` says how.  The options that were
    written count too, but for attrs classes, whose state holds them.  The code is rlenv and every
    package that the class of a stage, composite or table or a function comes from, by the bytes of
    all its files.  So an edit counts even where a version stood still.  Of classes of other objects
    that stages hold, an installed package counts by its version.  The file of a function that is
    named ``./file.py:name`` counts, and with it the files that the function declares in ``reads``;
    a module next to it cannot be imported there, and other packages that it imports do not count.
    """
    places = [*plan.leaves, *plan.composites, plan.root]
    whole = {
        "root": made.root,
        "pass_mark": pass_mark,
        "thinking": thinking,
        "tables": made.tables,
        "code": _code([place.stage for place in places], made.packages),
        "key": key_id() if any(leaf.draws for leaf in plan.leaves) else None,
    }
    return hashlib.sha256(canonical(whole).encode()).hexdigest()


def code_of(stages: Iterable[object]) -> dict[str, tuple[str | None, str]]:
    """The version and a hash of the content of rlenv, and of each package that these stages come
    from.

    Raises:
        ConfigError: a stage holds an object whose state cannot be seen.
    """
    stages = list(stages)
    state = State()
    for stage in stages:
        state.of(stage, target_of(stage))
    return _code(stages, state.packages)


def _code(stages: Iterable[object], held: Iterable[str]) -> dict[str, tuple[str | None, str]]:
    own = {"rlenv", *(target_of(it).partition(":")[0].partition(".")[0] for it in stages)}
    return {name: _package(name, own=name in own) for name in sorted({*own, *held}) if name}


def _package(name: str, *, own: bool) -> tuple[str | None, str]:
    number = version(DISTRIBUTION if name == "rlenv" else name)
    if not own and number is not None and is_installed(name):
        return number, ""
    return number, content_of(name)


def _slot(slot: Slot, state: State) -> dict[str, object]:
    numbers = {key: None if (n := getattr(slot, key)) is None else float(n) for key in NUMBERS}
    return {"name": slot.name, **numbers, **_stage(slot, state)}


def _stage(slot: Slot, state: State) -> dict[str, object]:
    stage: Any = slot.stage
    if isinstance(stage, Composite):
        held = {
            "composite": target_of(stage),
            "slots": [_slot(inner, state) for inner in stage.slots],
        }
    else:
        held = {"function" if is_function(stage) else "class": target_of(stage)}
    if globals_here := _globals_here(stage, state):
        held["globals"] = globals_here
    return {
        **held,
        "state": state.of(stage, slot.name, SLOTS if isinstance(stage, Composite) else frozenset()),
        "options": dict(_written(slot)),
        "reads": hashes_of_reads(stage),
    }


def _globals_here(stage: Any, state: State) -> str:
    """Describe the globals of a function that runs in this process, where they may have been set to
    other values.

    Workers import a module anew; here, what a script assigned to it holds.
    """
    if not is_function(stage) or attribute(stage, "where") == "worker":
        return ""
    function = inspect.unwrap(getattr(stage, "function", stage))
    while isinstance(function, partial):
        function = inspect.unwrap(function.func)
    function = getattr(function, "__func__", function)
    return state.globals_of(function, "globals") if isinstance(function, FunctionType) else ""


def _written(slot: Slot) -> Iterator[tuple[str, object]]:
    """The options that were written, where the state may lack them, less those that are defaults of
    the class.
    """
    kind = type(slot.stage)
    if not slot.options or is_function(slot.stage) or tells_all(kind):
        return
    known: Mapping[str, inspect.Parameter] = {}
    with suppress(TypeError, ValueError):  # a class need not tell its parameters
        known = inspect.signature(kind).parameters
    for name, value in slot.options.items():
        default = known[name].default if name in known else inspect.Parameter.empty
        if not (type(value) in ATOMS and type(default) in ATOMS and _same(value, default)):
            yield name, _number(value)


def _same(value: object, default: object) -> bool:
    return isinstance(value, bool) is isinstance(default, bool) and value == default


def _number(value: object) -> object:
    """An integer as the number with a point that it equals, since TOML files write either."""
    return float(value) if type(value) is int and abs(value) < EXACT else value
