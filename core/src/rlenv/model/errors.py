"""What rlenv raises: always a mistake of a person or a broken machine, never a bad response.

RlenvError
├── ConfigError      an environment, a stage's options or a composition that makes no sense
│   └── UnknownTask  a prompt or id that the environment does not have (also a LookupError)
├── TaskError        a task that a stage cannot work with; carries the task's id
├── PluginError      a plugin that is missing, broken, doubled, or built for a newer rlenv
├── InputError       a file of tasks or responses that cannot be read as one
├── VerifierFault    the verifier broke, so there is no reward; carries the Fault
└── WorkExceeded     one piece of work outran its budget (``rlenv.workers.call``)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

_hidden: dict[str, str] = {}  # what must not be shown → what is shown instead


def hide(text: str, written: str) -> None:
    """From now on, show ``written`` where a message of this process would have ``text``."""
    _hidden[text] = _hidden[repr(text)[1:-1]] = written


def masked(text: str) -> str:
    """``text`` without what ``hide`` was given: the values of variables that paths are written
    with.
    """
    for hidden in sorted(_hidden, key=len, reverse=True):
        text = text.replace(hidden, _hidden[hidden])
    return text


class RlenvError(Exception):
    """Base of everything that rlenv raises on purpose."""

    def __init__(self, *texts: str) -> None:
        super().__init__(*(masked(str(text)) for text in texts))

    def __reduce__(self) -> tuple[object, ...]:
        return Exception.__new__, (type(self), *self.args), vars(self)


class ConfigError(RlenvError):
    """A configuration that makes no sense.

    ``problems`` lists every mistake found, one line each.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = tuple(map(masked, problems))
        super().__init__("\n".join(problems))


def reject(problems: Iterable[str]) -> None:
    """Raise the problems found, where there are any.

    Raises:
        ConfigError: with one line each.
    """
    if found := tuple(problems):
        raise ConfigError(*found)


def first_lines(lines: Sequence[str], most: int = 20) -> list[str]:
    """The first lines, and how many more there are."""
    return [*lines[:most], *([f"and {len(lines) - most} more"] if len(lines) > most else ())]


class UnknownTask(ConfigError, LookupError):
    """No task of the environment has this prompt or id."""


class TaskError(RlenvError):
    """A task that a stage cannot work with: its answer does not parse, a column is missing."""

    def __init__(self, message: str, task_id: str | None = None) -> None:
        self.message = message
        self.task_id = task_id
        super().__init__(message if task_id is None else f"task {task_id!r}: {message}")


class PluginError(RlenvError):
    """A plugin that cannot be used.

    The message names the plugin, its distribution and the remedy.
    """


class InputError(RlenvError):
    """A file that cannot be read or written as asked; the message names file, row and remedy."""


@frozen
class Fault:
    """The verifier broke.  ``kind`` is one of FAULT_KINDS.

    ``transient`` says that a retry may help.
    """

    kind: str
    message: str
    transient: bool = False

    def __str__(self) -> str:
        """One line; the message is missing from what ``public()`` gave."""
        again = " (a retry may help)" if self.transient else ""
        return f"fault: {self.kind}{': ' * bool(self.message)}{self.message}{again}"


class VerifierFault(RlenvError):
    """The verifier broke, so there is no reward; a 0 would be a false negative."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(f"{fault.kind}: {fault.message}")


class WorkExceeded(RlenvError):
    """A piece of work outran its CPU or memory budget, or crashed its worker twice.

    ``kind`` is ``timeout``, ``memory`` or ``crash``.  The input caused it, so the stage that asked
    for the work answers with a 0 and the reason, never with a fault.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(f"{kind}: {message}")
