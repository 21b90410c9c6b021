"""The golden model: trusted numpy code of the task's author, run where the kernel never is."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from attrs import frozen
from rlenv import Fault, VerifierFault

from .numbers import NUMPY, to_bf16, to_float
from .spec import Kernel

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

__all__ = ["PREFIX", "Golden", "Wanted", "golden_of"]

PREFIX = "the golden model of this task: "  # what every fault of it begins with


@frozen(eq=False)
class Wanted:
    """What the golden model says of one case.

    Args:
        outputs: arrays of their dtypes (bf16 as bits).
        scales: what ``rtol`` multiplies, per output: None for ``|want|``, an array of doubles, or a
            float.
        bounds: doubles that are added to the tolerance, per output; None where the model gives
            none.
    """

    outputs: tuple[Values, ...]
    scales: tuple[Values | float | None, ...]
    bounds: tuple[Values | None, ...]


class Golden:
    """The model of a task: ``golden(values, sizes) -> Wanted``, checked for number and shape.

    Args:
        function: takes the inputs by position, floats widened to float64 (complex ones to
            complex128), and gives a list of outputs, or (outputs, {"bound": [...]}) with an array
            or None per output.
        sized: whether it also takes the sizes of the dimensions, by name.
    """

    def __init__(
        self, kernel: Kernel, function: Callable[..., object], *, sized: bool = False
    ) -> None:
        self.kernel = kernel
        self._function = function
        self._sized = sized

    def __call__(self, values: Mapping[str, object], sizes: Mapping[str, int]) -> Wanted:
        """What the kernel should make of these inputs.

        Raises:
            VerifierFault: the model fails, or gives what the task does not describe.
        """
        outputs, bounds = self.outputs(values, sizes)
        return Wanted(outputs, self._scales(values, sizes, outputs), bounds)

    def outputs(
        self, values: Mapping[str, object], sizes: Mapping[str, int]
    ) -> tuple[tuple[Values, ...], tuple[Values | None, ...]]:
        """The outputs and their bounds, without scales; raises as a call does."""
        given = [_widened(values[array.name], array.dtype) for array in self.kernel.inputs]
        made, bounds = self._run(given, sizes)
        outputs = zip(self.kernel.outputs, made, strict=True)
        return tuple(_output(array.dtype, output) for array, output in outputs), bounds

    def _run(
        self, given: list[object], sizes: Mapping[str, int]
    ) -> tuple[list[Any], tuple[Any, ...]]:
        import numpy as np

        names = {array.name for array in self.kernel.inputs}
        more = (
            {name: size for name, size in sizes.items() if name not in names} if self._sized else {}
        )
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = self._function(*given, **more)
        except Exception as err:
            raise _broken(f"it raises {type(err).__name__}: {err}") from err
        made, bounds = _apart(made)
        return self._shaped(made, sizes, "output"), self._bounds(bounds, sizes)

    def _shaped(self, made: object, sizes: Mapping[str, int], what: str) -> list[Any]:
        import numpy as np

        wanted = self.kernel.outputs
        if len(wanted) == 1 and isinstance(made, np.ndarray):
            made = [made]
        if not isinstance(made, (list, tuple)) or len(made) != len(wanted):
            given = f"{len(made)}" if isinstance(made, (list, tuple)) else type(made).__name__
            raise _broken(f"it returns {given} where a list of {len(wanted)} {what}s is described")
        found = []
        for array, output in zip(wanted, made, strict=True):
            shape = array.shape(sizes)
            try:
                values = np.asarray(output)
            except ValueError as err:
                raise _broken(f"its {what} {array.name} is not an array: {err}") from err
            if values.shape != shape:
                raise _broken(
                    f"its {what} {array.name} has the shape {values.shape}; {shape} is described"
                )
            if values.dtype.kind not in "biufc" or (
                values.dtype.kind == "c" and array.dtype[0] != "c"
            ):
                raise _broken(
                    f"its {what} {array.name} holds {values.dtype}; {array.dtype} is described"
                )
            found.append(values)
        return found

    def _bounds(self, bounds: object, sizes: Mapping[str, int]) -> tuple[Any, ...]:
        if bounds is None:
            return (None,) * len(self.kernel.outputs)
        import numpy as np

        if not isinstance(bounds, (list, tuple)) or len(bounds) != len(self.kernel.outputs):
            raise _broken(f"its bound is not a list of {len(self.kernel.outputs)}")
        shapes = [array.shape(sizes) for array in self.kernel.outputs]
        try:
            return tuple(
                None if bound is None else np.abs(np.broadcast_to(np.asarray(bound, "f8"), shape))
                for bound, shape in zip(bounds, shapes, strict=True)
            )
        except (TypeError, ValueError) as err:
            raise _broken(
                f"its bound is not an array of numbers of the outputs' shapes: {err}"
            ) from err

    def _scales(
        self, values: Mapping[str, object], sizes: Mapping[str, int], outputs: tuple[Values, ...]
    ) -> tuple[Any, ...]:
        scale = self.kernel.tol.scale
        arrays = self.kernel.outputs
        if not scale or not self.kernel.tol.rtol:
            return (None,) * len(outputs)
        if scale == "absdot":
            given = [abs(_widened(values[array.name], array.dtype)) for array in self.kernel.inputs]
            made, _ = self._run(given, sizes)
            pairs = zip(made, outputs, arrays, strict=True)
            return tuple(
                _larger(abs(sums), to_float(want, array.dtype)) for sums, want, array in pairs
            )
        measure = _spread if scale == "std" else _largest
        return tuple(
            measure(to_float(want, array.dtype))
            for want, array in zip(outputs, arrays, strict=True)
        )


def _larger(sums: Any, want: Values) -> Values:
    """The sums of absolute products.

    Where they are not finite or are less, the finite outputs' absolute values.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        size = np.abs(want.astype("c16" if want.dtype.kind == "c" else "f8"))
        size = np.where(np.isfinite(size), size, 0.0)
        found: Values = np.where(np.isfinite(sums) & (sums > size), sums, size).astype("f8")
    return found


def _spread(want: Values) -> float:
    finite = _finite(want)
    return float(finite.std()) if finite.size else 0.0


def _largest(want: Values) -> float:
    finite = _finite(want)
    return float(abs(finite).max()) if finite.size else 0.0


def _finite(want: Values) -> Values:
    import numpy as np

    wide = want.astype("c16" if want.dtype.kind == "c" else "f8")
    found: Values = wide[np.isfinite(wide)]
    return found


def _widened(value: Any, dtype: str) -> Any:
    """A private copy, floats with room to spare."""
    if dtype in ("scalar", "int"):
        return value
    if dtype in ("f2", "bf16", "f4", "f8"):
        return to_float(value, dtype).astype("f8")
    return value.astype("c16") if dtype[0] == "c" else value.copy()


def _output(dtype: str, made: Values) -> Values:
    import numpy as np

    with np.errstate(all="ignore"):
        return (
            to_bf16(made)
            if dtype == "bf16"
            else np.ascontiguousarray(made).astype(NUMPY[dtype]).reshape(made.shape)
        )


def _apart(made: object) -> tuple[Any, Any]:
    """Outputs and bounds."""
    if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], Mapping)):
        return made, None
    if unknown := [key for key in made[1] if key != "bound"]:
        raise _broken(f"beside its outputs it returns {unknown[0]!r:.40}; there is only 'bound'")
    return made[0], made[1].get("bound")


def _broken(said: str) -> VerifierFault:
    return VerifierFault(Fault("error", f"{PREFIX}{said}"[:400], transient=False))


def golden_of(kernel: Kernel) -> Golden:
    """The golden model of a task.

    Raises:
        VerifierFault: its source is no Python, or its module is not installed.
    """
    names = tuple(array.name for array in kernel.inputs)
    sizes = tuple(sorted({name for table in kernel.hidden for name in table} - set(names)))
    try:
        function, sized = _compiled(kernel.golden, names, sizes)
    except (SyntaxError, ValueError, ImportError, AttributeError, TypeError) as err:
        raise _broken(f"it cannot be used: {type(err).__name__}: {err}") from err
    return Golden(kernel, function, sized=sized)


@lru_cache(256)
def _compiled(
    source: str, names: tuple[str, ...], sizes: tuple[str, ...]
) -> tuple[Callable[..., Any], bool]:
    """A function, and whether it takes sizes."""
    import math

    import numpy as np

    module, colon, name = source.strip().partition(":")
    if colon and all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        from rlenv.authoring import resolve

        found = resolve(source.strip())
        if not callable(found):
            raise TypeError(f"{source.strip()} is not a function")
        return found, False
    source = textwrap.dedent(source)
    space: dict[str, Any] = {"np": np, "numpy": np, "math": math}
    whole = _defined(source)
    if not whole:
        parameters = ", ".join(
            (*names, *(["*", *(f"{size}=None" for size in sizes)] if sizes else []))
        )
        source = f"def golden({parameters}):\n{textwrap.indent(source, '    ')}\n"
    exec(compile(source, "<golden>", "exec"), space)  # noqa: S102 - the task's author is trusted
    return space[whole or "golden"], not whole


def _defined(source: str) -> str:
    """The function that a source defines, "" where the source is the body of one."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return ""
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    if not names or any(
        isinstance(node, ast.Return)
        for top in body
        if not isinstance(top, ast.FunctionDef)
        for node in ast.walk(top)
    ):
        return ""
    return "golden" if "golden" in names else names[-1]
