"""Where the source of a stage runs code that it is given: a look at the text, which no stage can
fool by behaving.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlenv.compose.composites import Composite
from rlenv.config.references import FileFunction

RUNS = {
    *("exec", "eval", "runpy.run_path", "runpy.run_module", "marshal.loads", "code.interact"),
    *(
        f"{module}.{name}"
        for module in ("pickle", "cloudpickle", "dill")
        for name in ("load", "loads")
    ),
}
ADVICE = (
    "If what it runs comes from a response, the response can give itself any score and read the"
    " task's answer, and no law can show it: run programs in a sandbox with code/run, and read data"
    " with json or ast.literal_eval"
)


def executing(stage: Any) -> Iterator[str]:
    """Warnings of a stage, or of those of a composite, whose source runs code; one line each."""
    if isinstance(stage, Composite):
        for slot in stage.slots:
            yield from executing(slot.stage)
    elif warning := _warning(stage):
        yield warning


def _warning(stage: Any) -> str:
    """A warning where the stage's class or function, or what it uses of its own module, runs code;
    else "".
    """
    thing = getattr(stage, "function", stage)
    thing = getattr(thing, "func", thing)  # of a partial
    thing = thing if hasattr(thing, "__code__") or isinstance(thing, FileFunction) else type(thing)
    try:
        file = str(getattr(thing, "path", "")) or inspect.getsourcefile(inspect.unwrap(thing)) or ""
        tree = ast.parse(Path(file).read_text("utf-8"))
    except (OSError, TypeError, ValueError, SyntaxError):
        return ""
    name = getattr(thing, "__qualname__", "").partition(".")[0]
    found = [f"{what} ({Path(file).name}:{line})" for what, line in _calls(tree, name)]
    return f"its source calls {', '.join(dict.fromkeys(found))}. {ADVICE}" if found else ""


def _calls(tree: ast.Module, name: str) -> Iterator[tuple[str, int]]:
    """Calls of RUNS in the definition of this name and in those of the same module that it uses."""
    known = {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    }
    names = dict(_imported(tree))
    wanted = [name]
    for one in wanted:  # which grows meanwhile
        for node in ast.walk(known.get(one, ast.Pass())):
            if isinstance(node, ast.Name) and node.id in known and node.id not in wanted:
                wanted.append(node.id)
            if isinstance(node, ast.Call):
                head, _, rest = ast.unparse(node.func).partition(".")
                what = names.get(head, head) + ("." + rest if rest else "")
                if what.removeprefix("builtins.") in RUNS:
                    yield what, node.lineno


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
