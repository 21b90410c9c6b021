"""The words of an env.toml, one class per table, and the tables that plugins claim: group
``rlenv.tables``.

``harness = "my_plugin.tables:Harness"`` claims ``[harness]``.  ``Harness`` is an attrs class whose
fields are the table's keys; an object of it is ``env.tables["harness"]`` and part of the
fingerprint.  Where it has a method ``check_tables(tables)``, this is given all tables, and raises
ConfigError for values that do not fit those of another. Where ``code=False`` loads an env.toml, a
field may be set only if its type or its mark says that it is safe: see ``marks`` and ``safety``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from attrs import Attribute, field, frozen
from attrs.validators import optional

from rlenv.compose.composites import is_name, number_wanted
from rlenv.model.errors import PluginError
from rlenv.model.messages import nearest, suggest
from rlenv.plugins.registry import by_name, load_entry

from .fit import build
from .marks import Safe, Unsafe
from .problems import Problems, Table, at


def _must_be(wanted: str, holds: Callable[[Any], object]) -> Callable[..., None]:
    def check(_: object, __: object, value: Any) -> None:
        if not holds(value):
            raise ValueError(f"{wanted} is expected")

    return check


def _number(_: object, attribute: Attribute[float], value: float | None) -> None:
    if wanted := number_wanted(attribute.name, value):
        raise ValueError(f"{attribute.name} is {wanted}")


_named = _must_be('a name without "/"', is_name)
_written = _must_be("a string that is not blank", str.strip)


@frozen
class ResponseEntry:
    """``[response]``: how responses are read.

    Args:
        thinking: ``hide`` leaves out thinking, also what the prompt's template opened; ``closed``
            only where the response opened it; ``keep`` leaves it in.
    """

    thinking: Literal["hide", "closed", "keep"] = "hide"


@frozen
class EnvEntry:
    """The file as a whole; its stages and tasks are read one by one, so that each mistake is told.

    Args:
        name: how logs and reports call the environment.
        description: a sentence for whoever reads the file.
        pass_mark: a reward at or above it is a pass; in (0, 1].
        base: what the mean of the stages counts for, before bonuses and penalties.
        observers: plugins whose hooks see every result and verdict.
        response: ``[response]``, how responses are read.
        stage: ``[[stage]]``, the stages in the order in which they run.
        tasks: ``[tasks]``, a file or source of tasks.
        task: ``[[task]]``, tasks written in the file itself.
    """

    name: Safe[str] = field(validator=_written)
    description: Safe[str] = ""
    pass_mark: float = field(
        default=1.0, validator=_must_be("a number in (0, 1]", lambda x: 0 < x <= 1)
    )
    base: float = field(default=1.0, validator=_must_be("a number > 0", lambda x: x > 0))
    observers: Unsafe[Sequence[str]] = ()
    response: ResponseEntry = field(factory=ResponseEntry)
    stage: Safe[Sequence[Table]] = ()  # these three are judged key by key, where they are read
    tasks: Safe[Table | None] = None
    task: Safe[Sequence[Table]] = ()


@frozen
class StageEntry:
    """One ``[[stage]]``.

    Args:
        use: the stage, as ``plugin/stage``.
        name: its part of the paths in verdicts; the short name of the stage by default.
        weight: its share in the mean; 1 unless a gate, penalty or bonus is given, then 0.
        gate: a score below it ends the pipeline with 0; the stage's own by default, and 0 for none.
        penalty: ``penalty * (1 - score)`` is taken off.
        bonus: ``bonus * score`` is added, unless the mean is 0.
        timeout: seconds of wall time; the stage's own by default, else 30.
        options: what the stage is built with; ``rlenv stages plugin/stage`` lists them.
        stage: ``[[stage.stage]]``, the children of a composite.
    """

    use: Safe[str]  # what names code is rejected where it is looked up
    name: Safe[str | None] = field(default=None, validator=optional(_named))
    weight: float | None = field(default=None, validator=_number)
    gate: float | None = field(default=None, validator=_number)
    penalty: float = field(default=0.0, validator=_number)
    bonus: float = field(default=0.0, validator=_number)
    timeout: float | None = field(default=None, validator=_number)
    options: Safe[Table] = field(factory=dict)  # judged by the class that takes them
    stage: Safe[Sequence[Table]] = ()


@frozen
class TaskEntry:
    """One ``[[task]]``, written in the file itself.

    Args:
        prompt: the text that the policy gets.
        answer: what stages compare with; for the verifier only.
        info: whatever else stages need; for the verifier only.
        id: unique among the tasks; a hash of prompt, answer and info by default.
        split: the part of the data that the task belongs to.
    """

    prompt: Safe[str] = field(validator=_written)
    answer: Safe[object] = None
    info: Safe[Table] = field(factory=dict)
    id: Safe[str | int | None] = None
    split: Safe[str] = "train"


def claimed(mapping: Table, own: Collection[str], problems: Problems) -> dict[str, object]:
    """Each table that is not ``own``, core's, as an object of the class that claims it.

    Notes every mistake.
    """
    claims = by_name("rlenv.tables")
    found: dict[str, object] = {}
    for key in [key for key in mapping if key not in own]:
        where = at("", str(key))
        if key in claims:
            try:
                cls = load_entry(claims[key], f"the class of [{key}]")
                found[key] = build(cls, mapping[key], where, problems)
            except PluginError as error:
                problems.add(where, str(error))
        else:
            problems.add(where, _unclaimed(str(key), mapping[key], {*own, *claims}))
    return found


def _unclaimed(key: str, value: object, names: Collection[str]) -> str:
    """Describe a key that neither core nor an installed plugin claims, and what to do."""
    is_table = isinstance(value, Mapping) or (
        isinstance(value, list) and all(isinstance(each, Mapping) for each in value)
    )
    if not is_table or nearest(key, names) or not key.isidentifier():
        return f"unknown key; {suggest(key, names, what='valid keys are')}"
    return (
        f"no installed plugin claims [{key}]: install the one that does (in a clone of rlenv,"
        f" `grep -l '^{key} = ' */*/pyproject.toml` names its folder, for pip install), or remove"
        " the table"
    )
