"""The kinds of constraints there are, and how ``{kind = "max_words", n = 400}`` becomes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rlenv import ConfigError, PluginError

from .constraint import Constraint
from .own_kinds import KINDS

__all__ = ["build", "build_all", "kind_of"]


def kind_of(name: str) -> Any:
    """The class of a kind: our own by its name, another plugin's as ``plugin/kind``.

    Raises:
        ConfigError: when there is none; the message has the nearest name.
    """
    from rlenv.authoring import part, resolve, suggest

    if name in KINDS:
        return resolve(f"{__package__}.kinds.{KINDS[name]}")
    if "/" not in name:
        hint = suggest(name, KINDS, what="the kinds are")
        raise ConfigError(f"there is no constraint of kind {name!r}; {hint}")
    try:
        return part("constraint", name)
    except PluginError as err:
        raise ConfigError(str(err)) from err


def build(spec: Any, path: str = "constraint") -> Constraint:
    """The constraint that a table describes.

    Args:
        spec: ``{"kind": name, parameter: value, …}``, or a constraint, which is returned.
        path: where it stands, for messages.

    Raises:
        ConfigError: with one line per mistake, each beginning with its path.
    """
    from rlenv.authoring import Problems
    from rlenv.authoring import build as build_record

    if isinstance(spec, Constraint) and not isinstance(spec, type):
        return spec
    problems = Problems()
    made: Any = None
    if not isinstance(spec, Mapping) or not isinstance(spec.get("kind"), str):
        wanted = 'a table such as {kind = "max_words", n = 400}'
        problems.add(path, f"a constraint is {wanted}, not {spec!r:.80}")
    else:
        parameters = {key: value for key, value in spec.items() if key != "kind"}
        try:
            if ":" in spec["kind"]:
                return _instruction(spec["kind"], parameters, path)
            cls = kind_of(spec["kind"])
        except ConfigError as err:
            for line in err.problems or (str(err),):
                problems.add(f"{path}.kind", line)
        else:
            made = build_record(cls, parameters, path, problems)
    problems.check()
    return cast("Constraint", made)


def _instruction(name: str, parameters: Mapping[str, Any], path: str) -> Constraint:
    """What an instruction of IFEval or IFBench, ``keywords:existence``, means strictly."""
    from .ids import spec_of

    return build(spec_of(name, parameters), path)


def build_all(specs: Any, path: str = "constraints") -> tuple[Constraint, ...]:
    """The constraints of a list of tables, every mistake of all of them reported at once.

    Raises:
        ConfigError: for what is not a list, an empty one, and every mistake in it.
    """
    if not isinstance(specs, Sequence) or isinstance(specs, str) or not specs:
        raise ConfigError(f"{path}: a list of at least one constraint, not {specs!r:.80}")
    made: list[Constraint] = []
    problems: list[str] = []
    for place, spec in enumerate(specs):
        try:
            made.append(build(spec, f"{path}[{place}]"))
        except ConfigError as err:
            problems += err.problems
    if problems:
        raise ConfigError(*problems)
    return tuple(made)
