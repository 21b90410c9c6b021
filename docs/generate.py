"""Writes docs/reference from docstrings, hook specifications, the words of env.toml and the
commands' help.

    python docs/generate.py [FOLDER]

A test compares the pages with what this writes.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, is_typeddict

import attrs
import click
import rlenv
from conformance_page import conformance
from rlenv import authoring, hooks
from rlenv.compose import stages as stage
from rlenv.config.fit import options_of
from rlenv.config.schema import EnvEntry, ResponseEntry, StageEntry, TaskEntry
from rlenv.config.taskfile import TasksEntry
from rlenv.model import values
from rlenv.model.lazy import lazy
from rlenv.plugins.registry import by_name, registry
from rlenv_cli.app import OWN, cli
from rlenv_cli.commands.stages import argument_docs, default_of, doc_of, facts, kind, prose, toml
from rlenv_cli.scores.unscored import REMEDIES
from scores_page import scores
from tables import head, row
from tools_page import tools

ROOT = Path(__file__).resolve().parents[1]
NOTE = (
    "<!-- Written by docs/generate.py from the code. Change the docstrings and run it again. -->\n"
)
LISTED = re.compile(r"^([a-z_]+(?:\(\w*\))?(?:, [a-z_]+)*): (?=\S)")  # "where: the place"
SECTION = re.compile(r"^(Args|Attributes|Raises|Options):$")
GROUPS = {
    "Environments": ("Environment", "RowExecutor"),
    "Values": ("Task", "Trajectory", "Tokens", "Outcome", "Fault", "StageResult", "Verdict"),
    "Stages": ("Stage", "GroupStage", "stage", "Attempt"),
    "Composition": (
        "Slot", "Composite", "Pipeline", "AnyOf", "AllOf", "Product", "Quorum", "First",
        "Equal",
    ),
    "For plugins": ("hookimpl", "Examples", "Rewrite", "Attack"),
    "Errors": (
        "RlenvError", "ConfigError", "UnknownTask", "TaskError", "PluginError", "InputError",
        "VerifierFault", "WorkExceeded", "ScoreError",
    ),
}  # fmt: skip
COLUMNS = """In `[tasks]`, a value of a task is read from a row as one of these:
- `"name"`, a column; `"a.b"` reaches into an object;
- `{ column = "name", pattern = '#### (.+)$' }`, the first group of a pattern in a column;
- `{ template = "{question} Go on." }`, columns filled into a text, with doubled braces for braces;
- `{ value = 3 }`, the same for all.

A `prompt` that is a list of messages keeps all of them in `info.messages`; the task's prompt is
then the text of the last user message."""

CLAIMED = """A plugin claims a top-level table with an entry point in group `rlenv.tables`:

```toml
[project.entry-points."rlenv.tables"]
harness = "my_plugin.tables:Harness"
```

The class is an attrs class; its fields are the keys of the table. Its mistakes are reported with
all others, the object is `env.tables["harness"]` and part of the fingerprint, and `rlenv show`
prints it: what the method `show()` of the class returns, else its fields. A table that nobody
claims is an error. These names belong to plugins of this repository:
"""


CONSTANTS = {  # what has no docstring of its own
    "hookimpl": "Marks a function of a plugin as the implementation of the hook of its name.",
    "authoring.Safe": (
        "`label: Safe[str]` declares an option that a stranger's env.toml may set (`code=False`):"
        " none of its values names a host, file, environment variable, module or program that is"
        " then used."
    ),
    "authoring.Unsafe": (
        "`trust: Unsafe[bool]` declares an option that it may not set, although its type reaches"
        " nothing outside."
    ),
}
STRANGERS = """`Environment.from_file(path, code=False)` loads the file of somebody that you do not
know. Then these keys are rejected: `observers`; `use` with `module:name` or `./file.py:name`;
`path` of `[tasks]` and options that are files, if they are absolute, hold `..` or `${VAR}`, or lead
out of the folder of the env.toml; options of stages, of sources of tasks and of tables that a
plugin claims, unless their type or their mark says that they reach nothing outside.
[Security](../../SECURITY.md#an-envtoml-that-you-did-not-write) says what holds then, and [write a
plugin](../how-to/write-a-plugin.md#what-a-strangers-envtoml-may-set) how an option is marked.
"""


def pages() -> dict[str, str]:
    """File name in docs/reference → its text."""
    made: Mapping[str, Callable[[], Iterator[str]]] = {
        "api.md": api,
        "testing.md": testing,
        "rlenv-cli.md": command_line_api,
        "stages.md": stages,
        "hooks.md": hook_page,
        "commands.md": commands,
        "env-toml.md": env_toml,
        "scores.md": scores,
        "tools.md": tools,
        "faults.md": faults,
        "conformance.md": conformance,
    }
    return {name: _page(make()) for name, make in made.items()}


def _page(lines: Iterator[str]) -> str:
    title, *rest = lines
    text = "\n".join([title, "", NOTE, *rest]).replace("\n\n\n", "\n\n")
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"


def api() -> Iterator[str]:
    yield "# The public API of `rlenv`"
    yield "What `rlenv.__all__` names is public, and so are the modules at the end.\n"
    named = {name for group in GROUPS.values() for name in group}
    assert named == set(rlenv.__all__), named ^ set(rlenv.__all__)
    for title, names in GROUPS.items():
        yield f"## {title}"
        for name in names:
            yield from _thing(name, getattr(rlenv, name), 3)
    yield "## `rlenv.workers`"
    from rlenv import workers

    yield from _thing("workers.call", workers.call, 3)
    yield "## `rlenv.authoring`"
    yield markdown(authoring) + "\n"
    for name in authoring.__all__:
        if name != "FAULT_KINDS":
            yield from _thing(f"authoring.{name}", getattr(authoring, name), 3)
    from rlenv import sandbox, steps, text

    for part in (text, steps, sandbox):
        yield f"## `{part.__name__}`"
        yield from _module(part, 3, part.__name__.removeprefix("rlenv.") + ".")


def testing() -> Iterator[str]:
    import rlenv_testing

    yield "# `rlenv_testing`"
    yield from _module(rlenv_testing, 2)


def command_line_api() -> Iterator[str]:
    from rlenv_cli import console, tickets
    from rlenv_cli import scores as score_files

    yield "# `rlenv_cli`"
    yield (
        "Three modules of rlenv-cli are public: other distributions may import them, and nothing"
        " else of it.\n"
    )
    for module in (console, score_files, tickets):
        yield f"## `{module.__name__}`"
        yield from _module(module, 3)


def _module(module: ModuleType, depth: int, prefix: str = "") -> Iterator[str]:
    """Its docstring, and the classes and functions that it names as public."""
    yield markdown(module) + "\n"
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield from _thing(prefix + name, thing, depth)


def _thing(name: str, thing: Any, depth: int) -> Iterator[str]:
    """A class with its methods, or a function."""
    yield f"{'#' * depth} `{name}`"
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        yield f"{CONSTANTS[name]}\n"
        return
    if is_typeddict(thing):
        yield f"{markdown(thing)} Keys: {', '.join(f'`{key}`' for key in thing.__annotations__)}.\n"
        return
    if not _abstract(thing):
        yield f"`{name.rpartition('.')[2]}{signature(thing)}`\n"
    yield markdown(thing) + "\n"
    if inspect.isclass(thing):
        for attribute, member in vars(thing).items():
            yield from _member(attribute, member)


def _abstract(thing: Any) -> bool:
    return inspect.isclass(thing) and (
        getattr(thing, "_is_protocol", False) or issubclass(thing, Exception)
    )


def _member(name: str, member: Any) -> Iterator[str]:
    is_property = isinstance(member, (property, lazy))
    wrapped = next((at for at in ("__func__", "fget", "func") if hasattr(member, at)), None)
    function = getattr(member, wrapped) if wrapped else member
    if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
        return
    how = "async " if inspect.iscoroutinefunction(function) else ""
    shown = name if is_property else f"{name}{signature(function, skip=True)}"
    text = markdown(function)
    yield f"- `{how}{shown}`: " + text.replace("\n", "\n  ") + "\n"


def signature(thing: Any, *, skip: bool = False) -> str:
    """The parameters with their defaults; types are in the text."""
    parameters = list(inspect.signature(thing).parameters.values())[1 if skip else 0 :]
    shown = []
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        shown.append(_parameter(parameter))
    return f"({', '.join(shown)})"


def _parameter(parameter: inspect.Parameter) -> str:
    name = parameter.name
    default = parameter.default
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"*{name}"
    if parameter.kind is parameter.VAR_KEYWORD:
        return f"**{name}"
    if default is parameter.empty:
        return name
    if default is attrs.NOTHING or isinstance(default, Mapping):  # a factory, here always of dict
        return f"{name}={{}}"
    plain = default in ((), None) or isinstance(default, bool | int | float | str)
    return f"{name}={default!r}" if plain else f"{name}=…"


def markdown(thing: Any) -> str:
    """A docstring, its sections as lists."""
    doc = "" if thing.__doc__ is None else inspect.cleandoc(thing.__doc__)
    lines = []
    inside = False
    for line in doc.replace("``", "`").splitlines():
        title = SECTION.match(line)
        if title:
            inside = True
            lines += [f"*{title[1]}*", ""]
        elif inside and line.startswith("    ") and not line.startswith("     "):
            head, colon, rest = line.strip().partition(":")
            lines.append(f"- `{head}`{colon}{rest}")
        elif inside and line.startswith("     "):
            lines.append(f"  {line.strip()}")
        else:
            inside = inside and not line.strip()
            lines.append(LISTED.sub(r"- `\1`: ", line))
    return "\n".join(lines).strip()


def stages() -> Iterator[str]:
    yield "# Stages and their options"
    yield "`rlenv stages NAME` prints the same for whatever is installed.\n"
    for plugin in _plugins():
        for short in sorted(registry().stages(plugin)):
            use = f"{plugin}/{short}"
            cls = registry().stage_type(use)
            yield f"## `{use}`"
            yield prose(cls) + "\n"
            yield from (f"- {label}: {value}" for label, value in facts(cls))
            yield ""
            yield from _options(cls)


def _plugins() -> Iterator[str]:
    """The plugins of this repository, core first."""
    yield "core"
    for folder in ("plugins", "contrib"):
        for manifest in sorted(ROOT.glob(f"{folder}/*/pyproject.toml")):
            project = tomllib.loads(manifest.read_text("utf-8"))["project"]
            yield from project.get("entry-points", {}).get("rlenv", {})


def _options(cls: Any) -> Iterator[str]:
    options = [option for option in options_of(cls)[0] if option.name != "slots"]
    if not options:
        yield "It has no options.\n"
        return
    yield from head("option", "type", "default", "meaning")
    for option in options:
        default = "required" if option.required else f"`{toml(default_of(option))}`"
        yield row(
            f"`{option.name}`",
            kind(option.kind),
            default,
            doc_of(option).replace("``", "`").rstrip("."),
        )
    yield ""


def hook_page() -> Iterator[str]:
    yield "# Hooks"
    yield markdown(hooks) + "\n"
    for name, hook in vars(hooks).items():
        if hasattr(hook, "rlenv_spec"):
            yield f"## `{name}{signature(hook)}`"
            yield markdown(hook) + "\n"
    for name in ("Examples", "Rewrite", "Attack"):
        yield from _thing(name, getattr(hooks, name), 2)
    yield f"## What a stage is\n\n{markdown(stage.Stage)}\n"
    yield from head("attribute", "default", "type", "meaning")
    for name, known in stage.ATTRIBUTES.items():
        yield row(f"`{name}`", f"`{known.default!r}`", known.expected, known.meaning)
    yield f"\nThe phases, in order: {', '.join(f'`{phase}`' for phase in stage.PHASES)}."


def commands() -> Iterator[str]:
    yield "# The command line"
    yield from _help("rlenv", cli)
    there = {entry.name: entry for entry in entry_points(group="rlenv.commands")}
    for name in (*OWN, "check", "export", "select"):
        command = there[name].load()
        if (
            "ignore_unknown_options" not in command.context_settings
        ):  # the plugin that it calls prints the help
            yield f"## `rlenv {name}`"
            yield from _help(f"rlenv {name}", command)
        for short, own in getattr(command, "commands", {}).items():
            yield f"## `rlenv {name} {short}`"
            yield from _help(f"rlenv {name} {short}", own)


def _help(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
    yield f"```text\n{command.get_help(context)}\n```\n"


def env_toml() -> Iterator[str]:
    yield "# The keys of an env.toml"
    yield "An unknown key is a mistake, and all mistakes of a file are told at once.\n"
    tables: Mapping[str, type] = {
        "the file": EnvEntry, "`[response]`": ResponseEntry, "`[[stage]]`": StageEntry,
        "`[tasks]`": TasksEntry, "`[[task]]`": TaskEntry,
    }  # fmt: skip
    for title, cls in tables.items():
        yield f"## Keys of {title}" if title == "the file" else f"## {title}"
        yield from head("key", "default", "meaning")
        docs = argument_docs(cls)
        for key in attrs.fields(cls):
            yield row(f"`{key.name}`", _default(key), docs[key.name].replace("``", "`").rstrip("."))
        yield ""
    yield f"## What a column may be\n\n{COLUMNS}\n"
    yield f"## Tables that plugins claim\n\n{CLAIMED}\n"
    owners = [(each.name, each.distribution) for each in by_name("rlenv.tables").values()]
    yield from (f"- `[{name}]`: {owner}" for name, owner in owners)
    yield f"\n## What `code=False` rejects\n\n{STRANGERS}"


def _default(key: attrs.Attribute[Any]) -> str:
    if key.default is attrs.NOTHING:
        return "required"
    empty = key.default is None or isinstance(key.default, attrs.Factory) or key.default == ()  # type: ignore[arg-type]
    return "" if empty else f"`{toml(key.default)}`"


def faults() -> Iterator[str]:
    yield "# Kinds of faults"
    yield (
        "A fault says that the *verifier* broke: the response is unscored, and `reward` is null.\n"
    )
    source = inspect.getsource(values)
    said = dict(re.findall(r'^    "(\w+)",  # (.+)$', source, re.M))
    yield from head("kind", "when", "what to do")
    for name in values.FAULT_KINDS:
        yield row(f"`{name}`", said[name], REMEDIES[name])
    yield "\n`transient` says that the same response may be scored when it is tried again."


def main(folder: Path) -> None:
    os.environ.setdefault("RLENV_SECRET", "for these pages only")
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")
    sys.stdout.write(f"wrote {len(pages())} pages to {folder}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs/reference")
