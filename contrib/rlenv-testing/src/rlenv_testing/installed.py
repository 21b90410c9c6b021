"""The stages of installed plugins with their examples; what is missing is a mistake that says what
to add.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen
from rlenv.engine.plan import Plan
from rlenv.hooks import Attack, Examples, Rewrite
from rlenv.model.errors import ConfigError, RlenvError, TaskError
from rlenv.model.messages import suggest
from rlenv.model.values import Task
from rlenv.plugins.registry import makers_of, registry

from .subject import Effort, Subject


@frozen
class _Plugin:
    """What the hooks of a plugin gave."""

    name: str
    home: str
    stages: Mapping[str, Any]
    examples: Mapping[str, Any]
    rewrites: Mapping[str, Sequence[Rewrite]]
    attacks: Mapping[str, Sequence[Attack]]


def subjects(plugin: str, stage: str | None = None, effort: Effort | None = None) -> list[Subject]:
    """Every stage of a plugin with each of its sets of examples.

    Args:
        plugin: the name of an installed plugin.
        stage: only this one, by its short name.

    Raises:
        PluginError: when the plugin cannot be used.
        ConfigError: when a stage has no examples, or examples that make no sense.
    """
    known = _known(plugin)
    if not known.stages:
        raise ConfigError(f"plugin '{plugin}' offers no stages, so there is nothing to check")
    for short in (stage, *known.examples):
        if short is not None and short not in known.stages:
            hint = suggest(short, known.stages, what="its stages are")
            raise ConfigError(f"plugin '{plugin}' has no stage '{short}'; {hint}")
    wanted = [stage] if stage is not None else sorted(known.stages)
    bare = [short for short in wanted if short not in known.examples]
    if bare:
        raise ConfigError(*(_no_examples(known, short) for short in bare))
    return [s for short in wanted for s in _of_stage(known, short, effort or Effort())]


def _known(plugin: str) -> _Plugin:
    found = registry()
    stages = found.stages(plugin)
    hooks = ("rlenv_examples", "rlenv_rewrites", "rlenv_attacks")
    examples, rewrites, attacks = (found.supplied(plugin, hook) for hook in hooks)
    return _Plugin(
        plugin,
        home=found.info(plugin).target,
        stages=stages,
        examples=examples,
        rewrites=rewrites,
        attacks=attacks,
    )


def _no_examples(known: _Plugin, short: str) -> str:
    return (
        f"stage '{known.name}/{short}' has no examples, and nothing is certified silently: add to"
        f" {known.home}\n"
        f"    @rlenv.hookimpl\n    def rlenv_examples():\n"
        f'        return {{"{short}": rlenv.Examples(right=[(task, response)], wrong=[(task,'
        " response)])}"
    )


def _of_stage(known: _Plugin, short: str, effort: Effort) -> Iterator[Subject]:
    given = known.examples[short]
    sets = [given] if isinstance(given, Examples) else given
    use = f"{known.name}/{short}"
    if (
        not isinstance(sets, (list, tuple))
        or not sets
        or not all(isinstance(one, Examples) for one in sets)
    ):
        raise ConfigError(
            f"{known.home}: rlenv_examples gives for '{short}' no Examples, nor a list of them"
        )
    stages = []
    for number, examples in enumerate(sets):
        where = f"{known.home}: the examples of '{use}'" + (f" ({number})" if len(sets) > 1 else "")
        _sound(examples, where)
        stage = _built(use, examples, known)
        stages.append((stage, examples, where))
        subject = Subject(
            use,
            stage,
            examples,
            rewrites=known.rewrites.get(short, ()),
            attacks=known.attacks.get(short, ()),
            before=_makers(use, stage),
            origin=(use, dict(examples.options)),
            number=number if len(sets) > 1 else None,
            effort=effort,
        )
        _tasks_fit(subject, where)
        yield subject
    _agree(stages)


def _sound(examples: Examples, where: str) -> None:
    for name in ("right", "wrong"):
        pairs = getattr(examples, name)
        if not pairs:
            raise ConfigError(
                f"{where}: {name} is empty: add a (task, response) that is surely {name}"
            )
        for at, pair in enumerate(pairs):
            whole = isinstance(pair, (tuple, list)) and len(pair) == 2
            if not whole or not isinstance(pair[0], Task) or not isinstance(pair[1], str):
                raise ConfigError(
                    f"{where}: {name}[{at}] is a pair (Task, text), not {pair!r:.120}"
                )
    _contradiction(examples.right, examples.wrong, where)


def _contradiction(right: Any, wrong: Any, where: str) -> None:
    for task, response in right:
        for other, text in wrong:
            if text == response and other == task:
                raise ConfigError(
                    f"{where} contradict each other: for the task {task.prompt!r:.80} the response"
                    f" {response!r:.120} is both right and wrong: drop one"
                )


def _agree(stages: list[tuple[Any, Examples, str]]) -> None:
    """Two sets for stages that are set alike say the same of a response."""
    for stage, examples, where in stages:
        for other, others, _ in stages:
            if other is not stage and (other == stage or others.options == examples.options):
                _contradiction(
                    examples.right, others.wrong, f"{where} and another set with the same options"
                )


def _built(use: str, examples: Examples, known: _Plugin) -> Any:
    from rlenv.config.fit import options_of

    cls = registry().stage_type(use)
    options = dict(examples.options)
    needed, more = options_of(cls)
    missing = [option.name for option in needed if option.required and option.name not in options]
    if missing:
        shown = ", ".join(f'"{name}": ...' for name in missing)
        raise ConfigError(
            f"stage '{use}' needs {' and '.join(missing)} to be built, and its examples give none:"
            f" write Examples(..., options={{{shown}}}) in {known.home}"
        )
    names = [option.name for option in needed]
    odd = [] if more else [name for name in options if name not in names]
    if odd:
        hint = (
            f"; {suggest(odd[0], names, what='its options are')}" if names else ", and it has none"
        )
        raise ConfigError(f"{known.home}: the examples of '{use}' give the option '{odd[0]}'{hint}")
    try:
        return cls(**options)
    except Exception as err:
        raise ConfigError(
            f"stage '{use}' cannot be built with the options of its examples, {options!r:.200}:"
            f" {type(err).__name__}: {err}: correct them in {known.home}"
        ) from err


def _makers(use: str, stage: Any) -> list[Any]:
    """Stages of the same plugin that make what this one needs, built with their defaults."""
    found: list[Any] = []
    for kind in getattr(stage, "needs", ()):
        makers = makers_of(kind, use) if isinstance(kind, type) else []
        if not makers:
            raise ConfigError(
                f"stage '{use}' needs {kind!r}, which no stage of its plugin makes: offer one that"
                " does"
            )
        maker = registry().stage_type(makers[0])()
        found += [*_makers(makers[0], maker), maker]
    return found


def _tasks_fit(subject: Subject, where: str) -> None:
    from rlenv.compose.composites import Pipeline, Slot

    try:
        plan = Plan(
            Pipeline([Slot(f"{i}", s) for i, s in enumerate((*subject.before, subject.stage))])
        )
    except RlenvError:
        return  # the law 'contract' says why
    for task in subject.tasks:
        try:
            lack = plan.missing(task)
        except TaskError as err:
            lack = err.message
        if lack is not None:
            raise ConfigError(
                f"{where}: the task {task.prompt!r:.80} cannot be worked with: {lack}"
            )
