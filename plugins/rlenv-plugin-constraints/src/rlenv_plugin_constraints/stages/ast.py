"""``constraints/ast``: what a Python program may import, call and be made of, read and never
run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal

from attrs import asdict, field, frozen
from rlenv import Attempt, ConfigError, Outcome, Task, TaskError
from rlenv.authoring import Safe, suggest

from rlenv_plugin_constraints.constraint import Constraint
from rlenv_plugin_constraints.discreet import discreet
from rlenv_plugin_constraints.registry import build_all
from rlenv_plugin_constraints.stages.all import outcome
from rlenv_plugin_constraints.text import Text

__all__ = ["Ast"]

_OWN = ("source", "score")  # of the stage, and not of the rules


@frozen(slots=False)
class Ast:
    """Rules for the Python program of a response: its last Python block, else all of it.

    The score is 1 when every rule holds, or the share that does.  Only the text of the program is
    read: what a library does, or an object that came from elsewhere, is not seen.  A program that
    does not parse, or is longer than 100,000 characters or nested more than 150 deep, is worth 0.

    Args:
        allow_imports: the only modules it may import; () allows all that is not forbidden.
        forbid_imports: modules, or names in them, that it may not import.
        allow_calls: the only calls, such as "len" or ".append"; its own functions are always
            allowed.
        forbid_calls: what it may not call, under whatever name: "eval", "os.system", ".sort".
        allow_nodes: the only nodes of Python's ``ast``; () allows all that is not forbidden.
        forbid_nodes: nodes that may not be in it, such as "While" or "Import".
        signature: a function that it must define: ``def name(a: int, b=1) -> str``.
        within: the class that holds that function; "" is the module.
        max_complexity: McCabe's number that no function may exceed; 0 is no limit.
        dynamic: "forbid" refuses what can reach a name without naming it (``getattr``, ``eval``,
            ``__dict__``), wherever imports or calls are ruled.
        source: where a task has its own rules, ``info.ast`` for example: a table of these options,
            which take the place of those of the same name.
        score: ``all`` (1 or 0) or ``fraction``.
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "inline"
    inline_limit: ClassVar[int] = (
        1024  # one constraint costs up to 4 µs a character, and there may be several
    )

    allow_imports: Safe[tuple[str, ...]] = ()
    forbid_imports: Safe[tuple[str, ...]] = ()
    allow_calls: Safe[tuple[str, ...]] = ()
    forbid_calls: Safe[tuple[str, ...]] = ()
    allow_nodes: Safe[tuple[str, ...]] = ()
    forbid_nodes: Safe[tuple[str, ...]] = ()
    signature: Safe[str] = ""
    within: Safe[str] = ""
    max_complexity: int = 0
    dynamic: Literal["forbid", "allow"] = "forbid"
    source: Safe[str] = ""
    score: Literal["fraction", "all"] = "all"
    _common: tuple[tuple[str, Constraint], ...] = field(
        init=False, repr=False, eq=False, default=()
    )

    def __attrs_post_init__(self) -> None:
        if self.source and not self.source.startswith("info."):
            raise ConfigError(f'source is a path such as "info.ast", not {self.source!r}')
        if self.max_complexity < 0:
            raise ConfigError("max_complexity is an integer from 1, or 0 for no limit")
        if self.within and not self.signature and not self.source:
            raise ConfigError("within names the class of a signature, and there is no signature")
        rules = self._rules()
        if any(rules[name] for name in rules if name != "dynamic") or not self.source:
            object.__setattr__(self, "_common", _built(json.dumps(rules)))

    @property
    def uses(self) -> tuple[str, ...]:
        """What it needs of a task."""
        return (self.source,) if self.source else ()

    def validate(self, task: Task) -> None:
        """Refuse rules of a task that are none."""
        try:
            self._of(task)
        except ConfigError as err:
            raise TaskError("; ".join(err.problems), task.id) from None

    def check(self, attempt: Attempt) -> Outcome:
        """1, or the share of rules that hold; data has what each measured, and where."""
        text = Text(attempt.visible, attempt.task.prompt)
        found = [(name, rule.check(text)) for name, rule in self._of(attempt.task)]
        whole = not found[0][1].satisfied  # no program at all
        said = outcome(found, "all" if whole else self.score, attempt=attempt)
        return discreet(said) if self.source else said

    def _rules(self) -> dict[str, Any]:
        every = asdict(self, filter=lambda a, _: a.init and a.name not in _OWN)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in every.items()}

    def _of(self, task: Task) -> tuple[tuple[str, Constraint], ...]:
        if not self.source:
            return self._common
        own: Any = task.info
        for key in self.source.split(".")[1:]:
            own = own.get(key) if isinstance(own, Mapping) else None
        if not isinstance(own, Mapping):
            raise ConfigError(f"{self.source} is a table of rules, not {own!r:.80}")
        rules = self._rules()
        if odd := [name for name in own if name not in rules]:
            hint = suggest(str(odd[0]), rules, what="the rules are")
            raise ConfigError(f"{self.source}.{odd[0]}: there is no such rule; {hint}")
        return _built(json.dumps({**rules, **own}))


@lru_cache(maxsize=1024)  # a task is verified many times
def _built(rules: str) -> tuple[tuple[str, Constraint], ...]:
    """(kind, constraint) of each rule; the first says whether there is a program."""
    r = json.loads(rules)
    made: list[dict[str, Any]] = [
        {"kind": "python", "allow_nodes": r["allow_nodes"], "forbid_nodes": r["forbid_nodes"]}
    ]
    for kind in ("imports", "calls"):
        allow = r[f"allow_{kind}"]
        forbid = r[f"forbid_{kind}"]
        if allow or forbid:
            made.append(
                {
                    "kind": f"python_{kind}",
                    "allow": allow,
                    "forbid": forbid,
                    "dynamic": r["dynamic"],
                }
            )
    if r["signature"]:
        made.append(
            {"kind": "python_signature", "signature": r["signature"], "within": r["within"]}
        )
    if r["max_complexity"]:
        made.append({"kind": "python_complexity", "max": r["max_complexity"]})
    kinds = [table["kind"] for table in made]
    return tuple(zip(kinds, build_all(made, "rules"), strict=True))
