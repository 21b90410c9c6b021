"""The body of a kernel of Triton, held against its tables."""

from __future__ import annotations

import ast

from rlenv_plugin_cuda.planning.checking import Checker, is_text
from rlenv_plugin_cuda.planning.names import Names
from rlenv_plugin_cuda.planning.values import Refused

from .names import CALLS, KERNEL, LIBDEVICE, LIBDEVICE_MODULES

__all__ = ["check_kernel", "is_libdevice"]

_TEXTS = frozenset([
    "cache_modifier", "eviction_policy", "input_precision", "sem", "scope", "padding_option",
    "propagate_nan",
])  # fmt: skip
_NUMBERS = frozenset({"inf", "-inf", "+inf", "nan", "infinity", "-infinity"})


def is_libdevice(full: str) -> bool:
    """Whether a full name is of the device library, as far as that can be had."""
    module, _, name = full.rpartition(".")
    return module in LIBDEVICE_MODULES and name in LIBDEVICE and full not in CALLS


def check_kernel(node: ast.FunctionDef, names: Names, functions: frozenset[str]) -> None:
    """Hold a kernel or device function against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    _Body(KERNEL, names, node, dict.fromkeys(functions)).block(node.body)


class _Body(Checker):
    def operator(self, node: ast.expr, op: ast.AST, right: ast.expr) -> None:
        """Check one operator; ``is`` stands before None."""
        none = isinstance(right, ast.Constant) and right.value is None
        if not (none and isinstance(op, (ast.Is, ast.IsNot))):
            super().operator(node, op, right)

    def arguments(self, node: ast.Call, full: str, depth: int) -> None:
        """Check the arguments of a call; some are texts, and some are functions."""
        combines = full.endswith((".reduce", ".associative_scan"))
        for place, part in enumerate(node.args):
            if combines and place == 2:
                self._combiner(part)
            elif not (full == "float" and _is_one_of(part, _NUMBERS)):
                self.expression(part, depth + 1)
        for keyword in node.keywords:
            name = str(keyword.arg)
            if name.startswith("_"):
                said = f"`{name:.40}`: a call names no argument with an underscore"
                raise Refused(node.lineno, said)
            if combines and name == "combine_fn":
                self._combiner(keyword.value)
            elif not (
                (name in _TEXTS or full.endswith(".static_assert")) and _is_short(keyword.value)
            ):
                self.expression(keyword.value, depth + 1)

    def _combiner(self, node: ast.expr) -> None:
        if not (isinstance(node, ast.Name) and node.id in self.functions):
            raise Refused(
                node.lineno, "what combines is a @triton.jit function of this answer, by its name"
            )


def _is_one_of(node: ast.expr, texts: frozenset[str]) -> bool:
    return is_text(node) and str(getattr(node, "value", "")).lower() in texts


def _is_short(node: ast.expr) -> bool:
    """Whether this is a text for the compiler."""
    value = str(getattr(node, "value", ""))
    return is_text(node) and len(value) <= 80 and value.isascii()
