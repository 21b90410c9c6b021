"""Rewrites of a response that keep what its kernels do, and such as change it.

Hook ``rlenv_rewrites``.

They apply to responses with exactly one fenced block of Python, so that what they do is sure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from rlenv import Task
from rlenv.hooks import Rewrite

__all__ = ["rewrites"]

_Edit = Callable[[str], "str | None"]
_block = re.compile(r"\A([^`<]*)```python\n([^`]+?)\n```(\s*)\Z").match


def rewrites() -> Mapping[str, Sequence[Rewrite]]:
    """Rewrites for the stages that read and run kernels."""
    keep = [Rewrite(name, _source(edit), keeps=True) for name, edit in _SAME_SOURCE.items()]
    keep += [Rewrite(name, _frame(form), keeps=True) for name, form in _SAME_FRAME.items()]
    change = [Rewrite(name, _source(edit), keeps=False) for name, edit in _OTHER_SOURCE.items()]
    frames = [Rewrite(name, _frame(form), keeps=False) for name, form in _OTHER_FRAME.items()]
    broken = [Rewrite(name, _source(edit), keeps=False) for name, edit in _BROKEN.items()]
    return {
        "diff": [*keep, *change, *frames, *broken],
        "run": [*keep, *broken],
        "compile": [*keep, *broken],
        "limits": keep,
    }


def _source(edit: _Edit) -> Callable[[Task, str], str | None]:
    """Rewrite the program."""

    def apply(_task: Task, response: str) -> str | None:
        match = _block(response)
        source = None if match is None else edit(match[2])
        if match is None or source is None or source == match[2]:
            return None
        return f"{match[1]}```python\n{source}\n```{match[3]}"

    return apply


def _frame(form: str) -> Callable[[Task, str], str | None]:
    """Give the program in another text."""

    def apply(_task: Task, response: str) -> str | None:
        match = _block(response)
        return None if match is None else form.replace("SOURCE", match[2])

    return apply


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _kernels(tree: ast.Module | None) -> list[ast.FunctionDef]:
    """The functions under ``@cuda.jit``."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
    return [node for node in functions if node.decorator_list]


def _unparsed(source: str) -> str | None:
    tree = _tree(source)
    return None if tree is None or not tree.body else ast.unparse(tree)


def _renamed_kernel(source: str) -> str | None:
    names = [kernel.name for kernel in _kernels(_tree(source))]
    if not names or re.search(rf"\.{names[0]}\b|\brenamed_kernel\b", source):
        return None
    return re.sub(rf"\b{names[0]}\b", "renamed_kernel", source)


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str) -> None:
        self.old = old

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("renamed_local", node.ctx) if node.id == self.old else node


def _renamed_local(source: str) -> str | None:
    tree = _tree(source)
    for kernel in _kernels(tree):
        stored = [
            n.id
            for n in ast.walk(kernel)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        if stored and tree is not None and "renamed_local" not in source:
            _Renamed(stored[0]).visit(kernel)
            return ast.unparse(ast.fix_missing_locations(tree))
    return None


def _writes(change: str) -> _Edit:
    """Change the first plain write of a kernel to one of its parameters; X is what it writes."""

    def edit(source: str) -> str | None:
        tree = _tree(source)
        for kernel in _kernels(tree):
            names = {argument.arg for argument in kernel.args.args}
            for node in ast.walk(kernel):
                if isinstance(node, ast.Assign) and _into(node.targets[0], names):
                    text = change.replace("X", f"({ast.unparse(node.value)})")
                    node.value = ast.parse(text, mode="eval").body
                    return ast.unparse(ast.fix_missing_locations(tree)) if tree else None
        return None

    return edit


def _into(target: ast.expr, names: set[str]) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id in names
    )


def _no_launch(source: str) -> str | None:
    tree = _tree(source)
    plan = (
        next(
            (
                node
                for node in tree.body
                if isinstance(node, ast.FunctionDef) and node.name == "run"
            ),
            None,
        )
        if tree
        else None
    )
    if plan is None or tree is None:
        return None
    plan.body = [ast.Pass()]
    return ast.unparse(tree)


_SAME_SOURCE: Mapping[str, _Edit] = {
    "comments": lambda s: f'# a comment: it\'s "odd"\n{s}\n# the end',
    "blank lines": lambda s: f"\n\n{s}\n\n\n",
    "CRLF": lambda s: s.replace("\n", "\r\n"),
    "a renamed local": _renamed_local,
    "a renamed kernel": _renamed_kernel,
    "written anew": _unparsed,
    "an unused constant": lambda s: f"{s}\n\nUNUSED = 7",
    "trailing blanks": lambda s: re.sub(r"(?m)$", "  ", s),
}
_SAME_FRAME: Mapping[str, str] = {
    "prose around": "Let me explain.\n\n```python\nSOURCE\n```\n\nEach thread does `1` element.",
    "the bare program": "SOURCE",
    "tildes": "~~~python\nSOURCE\n~~~",
    "four backticks": "````python\nSOURCE\n````",
    "the label py": "```py\nSOURCE\n```",
    "no label": "```\nSOURCE\n```",
    "thinking first": (
        "<think>\nFirst ```python\nreturn 0\n``` No.\n</think>\n\n```python\nSOURCE\n```"
    ),
    "a draft first": "```python\nraise SystemExit(1)\n```\nBetter:\n```python\nSOURCE\n```",
    "a fence without end": "```python\nSOURCE\n",
}
_OTHER_SOURCE: Mapping[str, _Edit] = {
    "one more than it writes": _writes("X + 1.0"),
    "half of what it writes": _writes("X * 0.5"),
    "zeros": _writes("0.0"),
    "no launch": _no_launch,
}
_OTHER_FRAME: Mapping[str, str] = {
    "another program last": (
        "```python\nSOURCE\n```\nOr rather:\n```python\ndef run(*args):\n    pass\n```"
    ),
    "only in the thinking": "<think>\n```python\nSOURCE\n```\n</think>\nI do not know.",
}
_BROKEN: Mapping[str, _Edit] = {
    "a bracket too many": lambda s: f"{s}\n(",
    "a first line of prose": lambda s: f"Here is the kernel:\n{s}",
    "an import of os": lambda s: f"import os\n{s}",
}
