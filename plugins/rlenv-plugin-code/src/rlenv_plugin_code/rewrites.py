"""Rewrites of a response that keep what its program does, and such as change it.

Hook ``rlenv_rewrites``.

They apply to responses with exactly one fenced block of Python, so that what they do is sure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from rlenv import Task
from rlenv.hooks import Rewrite

__all__ = ["rewrites"]

_Edit = Callable[[str], "str | None"]
_block = re.compile(
    r"\A(?P<before>[^`]*)```python\n(?P<source>[^`]+?)\n```(?P<after>[^`]*)\Z"
).match


def rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Rewrites for the stages that run programs, and for the one that compiles them."""
    keep = [Rewrite(name, _source(edit), keeps=True) for name, edit in _SAME_SOURCE.items()]
    keep += [Rewrite(name, _frame(form), keeps=True) for name, form in _SAME_FRAME.items()]
    change = [Rewrite(name, _source(edit), keeps=False) for name, edit in _OTHER_SOURCE.items()]
    change += [Rewrite(name, _frame(form), keeps=False) for name, form in _OTHER_FRAME.items()]
    broken = [Rewrite(name, _source(edit), keeps=False) for name, edit in _BROKEN.items()]
    return {
        "diff": [*keep, *change, *broken],
        "run": [*keep, *broken],
        "compile": [*keep, *broken],
        "limits": keep,
    }


@frozen
class _Parts:
    before: str
    source: str
    after: str


def _parts(response: str) -> _Parts | None:
    """A response around its only program; None where it is made otherwise."""
    match = _block(response)
    if match is None or "<" in match["before"] or match["after"].strip():
        return None
    return _Parts(**match.groupdict())


def _source(edit: _Edit) -> Callable[[Task, str], str | None]:
    """Rewrite the program."""

    def apply(_task: Task, response: str) -> str | None:
        parts = _parts(response)
        source = None if parts is None else edit(parts.source)
        if parts is None or source is None or source == parts.source:
            return None
        return f"{parts.before}```python\n{source}\n```{parts.after}"

    return apply


def _frame(form: str) -> Callable[[Task, str], str | None]:
    """Give the program in another text."""

    def apply(_task: Task, response: str) -> str | None:
        parts = _parts(response)
        return None if parts is None else form.replace("SOURCE", parts.source)

    return apply


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old else node


def _only_function(tree: ast.Module | None) -> ast.FunctionDef | None:
    """The function of a program that is nothing else and has nothing nested in it."""
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    function = tree.body[0]
    nested = (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.Global,
        ast.Nonlocal,
    )
    inner = [node for node in ast.walk(function) if node is not function]
    return None if any(isinstance(node, nested) for node in inner) else function


def _rename_local(source: str) -> str | None:
    function = _only_function(_tree(source))
    if function is None or re.search(r"\b(?:locals|vars|eval|exec|renamed_local)\b", source):
        return None
    given = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    names = [
        n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    stored = [name.id for name in names if name.id not in given]
    return ast.unparse(_Renamed(stored[0], "renamed_local").visit(function)) if stored else None


def _unparsed(source: str) -> str | None:
    tree = _tree(source)
    return None if tree is None or not tree.body else ast.unparse(tree)


def _commented(source: str) -> str:
    return f'# a comment: it\'s "odd"\n{source}\n# the end'


def _spaced(source: str) -> str:
    return f"\n\n{source}\n\n\n"


def _crlf(source: str) -> str | None:
    return None if '"""' in source or "'''" in source else source.replace("\n", "\r\n")


def _returns(change: Callable[[ast.expr], ast.expr]) -> _Edit:
    """Change what the only function returns, wherever it does."""

    def edit(source: str) -> str | None:
        function = _only_function(_tree(source))
        found = (
            []
            if function is None
            else [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
        )
        for node in found:
            node.value = change(node.value)  # type: ignore[arg-type]
        return ast.unparse(ast.fix_missing_locations(function)) if function and found else None

    return edit


def _call(text: str) -> Callable[[ast.expr], ast.expr]:
    """An expression around another, which stands as X."""

    def change(value: ast.expr) -> ast.expr:
        return ast.parse(text.replace("X", f"({ast.unparse(value)})"), mode="eval").body

    return change


def _other_name(source: str) -> str | None:
    function = _only_function(_tree(source))
    return (
        None
        if function is None
        else source.replace(f"def {function.name}(", f"def {function.name}_of(", 1)
    )


def _exit_first(source: str) -> str:
    return f"import sys\nsys.exit(0)\n{source}"


def _redefined(source: str) -> str | None:
    function = _only_function(_tree(source))
    return (
        None if function is None else f"{source}\ndef {function.name}(*args, **kwargs): return None"
    )


_SAME_SOURCE: Mapping[str, _Edit] = {
    "comments": _commented,
    "blank lines": _spaced,
    "CRLF": _crlf,
    "a renamed local": _rename_local,
    "written anew": _unparsed,
    "an unused import": lambda s: None if "from __future__" in s else f"import math\n{s}",
    "a main guard": lambda s: f"{s}\n\nif __name__ == '__never__':\n    raise SystemExit(1)",
    "an unused helper": lambda s: f"{s}\n\ndef unused_helper():\n    return None",
    "trailing blanks": lambda s: None if "'''" in s or '"""' in s else re.sub(r"(?m)$", "  ", s),
    "a form feed": lambda s: None if "from __future__" in s else f"\f\n{s}",
}

_SAME_FRAME: Mapping[str, str] = {
    "prose around": (
        "Let me explain.\n\n```python\nSOURCE\n```\n\nIt takes linear time; `x` is `1`."
    ),
    "the bare program": "SOURCE",
    "tildes": "~~~python\nSOURCE\n~~~",
    "four backticks": "````python\nSOURCE\n````",
    "the label py": "```py\nSOURCE\n```",
    "a label in capitals": "```Python\nSOURCE\n```",
    "no label": "```\nSOURCE\n```",
    "thinking first": (
        "<think>\nFirst ```python\nreturn 0\n``` No.\n</think>\n\n```python\nSOURCE\n```"
    ),
    "a draft first": "```python\nraise SystemExit(1)\n```\nBetter:\n```python\nSOURCE\n```",
    "output behind": "```python\nSOURCE\n```\nIt prints:\n```text\n1 2 3\n```",
    "a fence without end": "```python\nSOURCE\n",
    "CRLF around": "Here:\r\n\r\n```python\r\nSOURCE\r\n```\r\n",
}

_OTHER_SOURCE: Mapping[str, _Edit] = {
    "one more than it returns": _returns(_call("X + 1")),
    "what it returns, in a list": _returns(_call("[X]")),
    "what it returns, as text": _returns(_call("repr(X) + ' '")),
    "None": _returns(_call("(X, None)[1]")),
    "another name": _other_name,
    "an exit first": _exit_first,
    "redefined at the end": _redefined,
}

_OTHER_FRAME: Mapping[str, str] = {
    "another program last": (
        "```python\nSOURCE\n```\nOr rather:\n```python\nraise SystemExit(0)\n```"
    ),
    "only in the thinking": "<think>\n```python\nSOURCE\n```\n</think>\nI do not know.",
    "an empty program last": "```python\nSOURCE\n```\n```python\npass\n```",
}

_BROKEN: Mapping[str, _Edit] = {
    "a bracket too many": lambda s: f"{s}\n(",
    "a first line of prose": lambda s: f"Here is the program:\n{s}",
    "an indented end": lambda s: f"{s}\n        oops\n      oops",
}
