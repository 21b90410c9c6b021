"""``max`` and ``min`` in CUDA kernels, where numba has lost them.

numba 0.68 made both of them overloads with a starred parameter, which its CUDA target cannot call:
every kernel with ``max(a, b)`` ends in a TypeError.  Here they get a type and a lowering for that
target again: the arguments' common type, floats by the device's own functions (which numba still
has), all else by a comparison.
"""

from __future__ import annotations

import operator
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["restore"]


def restore() -> None:
    """Put them back into the CUDA target; once per process, and only where they are lost."""
    if not hasattr(import_module("numba.cpython.builtins"), "max_vararg"):
        return
    types = import_module("numba.core.types")
    registry = import_module("numba.cuda.cudaimpl").registry
    context = import_module("numba.cuda.descriptor").cuda_target.typing_context
    for function, better in ((max, operator.gt), (min, operator.lt)):
        registry.lower(function, types.VarArg(types.Any))(_lowering(types, better))
    for function in (
        max,
        min,
    ):  # ahead of numba's own, which are added when the context is first used
        context.insert_global(function, types.Function(_template(types, function)))


def _template(types: Any, function: Any) -> Any:
    templates = import_module("numba.core.typing.templates")

    def generic(self: Any, args: Any, kws: Any) -> Any:
        numbers = (types.Number, types.Boolean)
        if kws or len(args) < 2 or not all(isinstance(arg, numbers) for arg in args):
            return None
        common = self.context.unify_types(*args)
        return None if common is None else templates.signature(common, *(common for _ in args))

    return type("Extreme", (templates.AbstractTemplate,), {"key": function, "generic": generic})


def _lowering(types: Any, better: Any) -> Any:
    """The first of the arguments that none of the others is better than."""
    signature = import_module("numba.core.typing.templates").signature

    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = sig.return_type
        compare = context.get_function(better, signature(types.boolean, kind, kind))
        values = [context.cast(builder, v, was, kind) for v, was in zip(args, sig.args)]
        best = values[0]
        for value in values[1:]:
            best = builder.select(compare(builder, (value, best)), value, best)
        return best

    return lowered
