"""Reach: what a stranger's env.toml may set names nothing outside of its folder."""

from __future__ import annotations

from typing import Any

from rlenv.config.fit import options_of

from rlenv_testing.bench import Unchecked
from rlenv_testing.law import law, require, skip
from rlenv_testing.reach import Target, reached, text_options
from rlenv_testing.subject import Subject

_FOUND: dict[object, list[str] | Exception] = {}  # by stage: its sets of examples have one class


@law
def test_reach(subject: Subject) -> None:
    """An option that a stranger's env.toml may set (code=False) opens no file outside and names no
    host or program.

    An option is such a one by its type (numbers, true and false, literals) or its mark (``Safe``).
    """
    kind = type(subject.stage)
    if not text_options(kind):
        skip("it has no option that takes a text")
    if kind not in _FOUND:
        _FOUND[kind] = _found(subject)
    found = _FOUND[kind]
    if isinstance(found, Exception):
        raise Unchecked(f"{type(found).__name__}: {found}")
    subject.counted += 1
    remedy = "declare it Unsafe[...], or do not use it so"
    require(
        not found,
        f"an option that code=False accepts reaches outside: {'; '.join(found[:9])}; {remedy}",
    )


def _found(subject: Subject) -> list[str] | Exception:
    stage: Any = subject.stage
    options = dict(subject.examples.options)
    for option in options_of(type(stage))[0]:
        if option.required and option.name not in options:
            options[option.name] = getattr(stage, option.name, None)
    made_by = subject.origin[0] if subject.origin else type(stage)
    pairs = [*subject.right[:1], *subject.wrong[:1]]
    try:
        found = reached([Target(made_by, options, subject.before, pairs)])
    except Exception as error:  # noqa: BLE001 - pickling and loading run code of the stage
        return error
    first = {(each.option, each.event): str(each) for each in reversed(found)}
    return [*first.values()]
