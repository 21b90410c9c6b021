"""``rlenv stages``: the stages that an environment can have, and their options."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import attrs
import click
from rlenv.authoring import File
from rlenv.compose.stages import deadline_of
from rlenv.model.errors import PluginError

from rlenv_cli.console import console, one_line, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rlenv.config.fit import Option

# What an option of a type is in TOML.
KINDS = {
    File: "path of a file",
    Mapping: "table",
    dict: "table",
    tuple: "list",
    list: "list",
}


@click.command("stages")
@click.argument("name", required=False)
def command(*, name: str | None) -> None:
    """List the stages of all plugins or of one (math), or show the options of one stage
    (math/equal).
    """
    from rlenv.plugins.registry import registry

    out = console()
    if name is not None and "/" in name:
        describe(out, name, registry().stage_type(name))
        return
    plugins = [name] if name is not None else [info.name for info in registry().infos()]
    _list(out, plugins, strict=name is not None)


def _list(out: Console, plugins: list[str], *, strict: bool) -> None:
    from rich.box import SIMPLE
    from rich.table import Column, Table

    table = Table(
        Column("stage", no_wrap=True), Column("phase", no_wrap=True), "what it does", box=SIMPLE
    )
    broken = []
    for plugin in plugins:
        try:
            with redirect_stdout(sys.stderr):  # what a plugin prints is not the list
                rows = list(_rows(plugin))
            for row in rows:
                table.add_row(*row)
        except PluginError as error:
            if strict:
                raise
            broken.append(one_line(str(error), 300))
    out.print(table)
    for line in broken:
        out.print(f"left out: {line}", soft_wrap=True)


def _rows(plugin: str) -> Iterator[tuple[str, str, str]]:
    from rlenv.plugins.registry import registry

    for short in sorted(registry().stages(plugin)):
        use = f"{plugin}/{short}"
        try:
            cls = registry().stage_type(use)
        except PluginError as error:
            yield use, "-", f"does not load: {one_line(str(error), 200)}"
            continue
        yield use, _phase(cls), one_line(first_sentence(cls), 200)


def describe(out: Console, use: str, cls: Any) -> None:
    """Print all that the class tells of itself."""
    out.print(
        f"{visible(use)}  ({cls.__module__}:{cls.__qualname__})", style="bold", soft_wrap=True
    )
    out.print()
    out.print(visible(prose(cls)) or "(no description)", soft_wrap=True)
    out.print()
    for label, value in facts(cls):
        out.print(f"{label:<12}{value}", soft_wrap=True)
    _options(out, cls)


def facts(cls: Any) -> list[tuple[str, str]]:
    """What a stage class says outside its options, defaults included."""
    found = [("phase", _phase(cls)), ("where", _where(cls))]
    used = getattr(cls, "uses", ())
    if isinstance(used, property):
        found += [("uses", "what its options ask for")]
    else:
        found += [("uses", ", ".join(f"task.{path}" for path in used) or "nothing of the task")]
    for name in ("needs", "takes", "makes"):
        kinds = getattr(cls, name, ())
        asks = isinstance(kinds, property)
        types = "what its options ask for" if asks else ", ".join(k.__name__ for k in kinds)
        found += [(name, types)] if types else []
    gate = getattr(cls, "default_gate", None)
    if isinstance(gate, property):
        found += [("gate", "what its options ask for")]
    elif gate is not None:
        found += [("gate", f"{gate:g} by default")]
    budget = getattr(cls, "budget", None)
    if isinstance(budget, (int, float)):
        found += [("budget", f"{budget:g} CPU seconds for a response; one that costs more gets 0")]
    if _where(cls) == "worker" or hasattr(cls, "default_timeout"):
        by_options = isinstance(getattr(cls, "default_timeout", None), property)
        found += [
            ("timeout", "by its options" if by_options else f"{deadline_of(cls):g} s by default")
        ]
    if not getattr(cls, "deterministic", True):
        found += [("repeats", "may differ: it is measured or sampled")]
    if hasattr(cls, "check_group") and not hasattr(cls, "check"):
        found += [("group", "judges responses side by side only (rlenv score --group)")]
    return found


def _options(out: Console, cls: Any) -> None:
    from rich.padding import Padding
    from rlenv.config.fit import options_of

    options, more = options_of(cls)
    options = tuple(option for option in options if option.name != "slots")
    out.print()
    if not options:
        out.print("It has no options." if not more else "It takes options that it does not name.")
    for option in options:
        default = "required" if option.required else f"default {toml(default_of(option))}"
        head = f"{option.name}  ({kind(option.kind)}, {one_line(default, 300)})"
        out.print(visible(head), style="bold")
        if text := doc_of(option):
            out.print(Padding(visible(text), (0, 0, 0, 4)))


def kind(annotation: Any) -> str:
    """Return a type as a reader of TOML knows it, or a class by its name."""
    if annotation is Any:
        return "any value"
    if (known := KINDS.get(get_origin(annotation) or annotation)) is not None:
        return known
    if get_origin(annotation) is Literal:
        return " or ".join(toml(value) for value in get_args(annotation))
    if isinstance(annotation, type) and not getattr(annotation, "__args__", ()):
        return annotation.__name__
    return str(annotation).replace("typing.", "").replace("collections.abc.", "")


def toml(value: Any) -> str:
    """Return a default as an env.toml would write it, where it can."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if attrs.has(type(value)):
        return f"{{{', '.join(_changed(value))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {toml(item)}' for key, item in value.items())}}}"
    return str(value)


def _changed(value: Any) -> Iterator[str]:
    """The fields of a nested table that say something by default: neither empty nor none."""
    for field in attrs.fields(type(value)):
        held = getattr(value, field.name)
        if field.init and held not in ("", None, (), []):
            yield f"{field.name} = {toml(held)}"


def prose(cls: Any) -> str:
    """The docstring up to its list of arguments."""
    text = inspect.cleandoc(cls.__doc__ or "")
    for heading in ("\nArgs:", "\nOptions:", "\nRaises:"):
        text = text.partition(heading)[0]
    return text.replace("``", "").strip()


def first_sentence(cls: Any) -> str:
    """Return the first sentence of the docstring, or its first paragraph where that is one
    sentence.
    """
    paragraph = prose(cls).split("\n\n", maxsplit=1)[0]
    return re.split(r"(?<=[.;])\s", paragraph, maxsplit=1)[0].replace(";", ".")


def _phase(cls: Any) -> str:
    from rlenv.compose.composites import Composite

    if isinstance(cls, type) and issubclass(cls, Composite):
        return "composite"
    return str(getattr(cls, "phase", "?"))


def _where(cls: Any) -> str:
    return "-" if _phase(cls) == "composite" else str(getattr(cls, "where", "worker"))


def default_of(option: Option) -> Any:
    """The default, None where there is none and where other options decide it."""
    from attrs import Factory

    if option.required:
        return None
    if isinstance(option.given, Factory):  # type: ignore[arg-type]
        return None if option.given.takes_self else option.given.factory()
    return option.given


def doc_of(option: Option) -> str:
    """What the class says of it: ``field(metadata={"doc": …})``, else the docstring's ``Args``."""
    own = option.attribute.metadata.get("doc") if option.attribute is not None else None
    return str(own or argument_docs(option.owner).get(option.name, ""))


def argument_docs(cls: Any) -> dict[str, str]:
    """Name → text of the ``Args:`` sections of the docstrings of a class and its bases."""
    docs = [inspect.cleandoc(each.__doc__ or "") for each in getattr(cls, "__mro__", [cls])]
    found: dict[str, str] = {}
    inside = False
    names = list[str]()
    for line in "\n".join(reversed(docs)).splitlines():
        if not line.startswith(" "):
            inside = line.strip() in ("Args:", "Options:") or (inside and not line.strip())
        elif inside and not line.startswith("     "):
            head, _, text = line.strip().partition(":")
            names = [name.strip(" `") for name in head.split(",")]
            found.update(dict.fromkeys(names, text.strip()))
        elif inside:
            found.update({name: f"{found[name]} {line.strip()}" for name in names})
    return found
