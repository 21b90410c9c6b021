"""``task.info["kernel"]``, read with every mistake named by its key, its value and what was
expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any, TypeVar

from rlenv import Task, TaskError
from rlenv.authoring import code_allowed, suggest

from .dims import BadDim, names_in
from .spec import DISTS, DTYPES, LANGUAGES, MOST_BYTES, SCALES, Array, Kernel, Limits, Tolerance

__all__ = ["kernel_of"]

_T = TypeVar("_T", bound=str)
_KEYS = (
    *("lang", "inputs", "outputs", "golden", "visible", "hidden", "dists", "tol", "output_init"),
    *("limits", "values"),
)
_TOL = ("atol", "rtol", "scale", "contract")
_LIMITS = ("registers", "shared", "stack", "spills", "threads_per_block", "arch")


class _Wrong(Exception):
    """What is wrong with a part; the caller knows the task."""


def kernel_of(task: Task) -> Kernel:
    """Read and check ``task.info["kernel"]``.

    Raises:
        TaskError: naming the key, what is there and what was expected.
    """
    said = task.info.get("kernel")
    if not code_allowed():
        raise TaskError(
            "info.kernel.golden is a program that runs outside of the sandbox, so code=False"
            " rejects it; load the file without code=False once you trust it",
            task.id,
        )
    if not isinstance(said, Mapping):
        raise TaskError(
            "info.kernel: expected a table with lang, inputs, outputs, golden and hidden, not"
            f" {said!r:.60}",
            task.id,
        )
    try:
        return _read(said)
    except _Wrong as wrong:
        raise TaskError(f"info.kernel.{wrong}", task.id) from None


def _read(said: Mapping[str, object]) -> Kernel:
    for key in said:
        if key not in _KEYS:
            raise _Wrong(f"{key}: there is no such key; {_near(key, _KEYS)}")
    lang = _one_of(said.get("lang", "numba"), LANGUAGES, "lang")
    inputs = _arrays(said.get("inputs"), "inputs", least=0)
    outputs = _arrays(said.get("outputs"), "outputs", least=1)
    _distinct(inputs, outputs)
    visible = _sizes(said.get("visible"), "visible", inputs, outputs, least=0)
    return Kernel(
        lang=lang,
        inputs=inputs,
        outputs=outputs,
        golden=_golden(said.get("golden")),
        visible=visible,
        hidden=_sizes(said.get("hidden"), "hidden", inputs, outputs, least=1),
        dists=_dists(said.get("dists")),
        tol=_tolerance(said.get("tol")),
        output_init=_one_of(said.get("output_init", "poison"), ("poison", "zero"), "output_init"),
        limits=_limits(said.get("limits")),
        values=_values(said.get("values"), inputs),
    )


def _near(key: object, known: Sequence[str]) -> str:
    return suggest(str(key), known, what="there are")


def _one_of(value: object, known: Sequence[_T], key: str) -> _T:
    for name in known:
        if value == name and isinstance(value, str):
            return name
    raise _Wrong(f"{key}: {value!r:.40} is not known; {_near(value, known)}")


def _listed(value: object, key: str, least: int, like: str) -> Sequence[Any]:
    if value is None:
        value = ()
    if not isinstance(value, (list, tuple)) or len(value) < least:
        wanted = "a list" if not least else f"a list of at least {least}"
        raise _Wrong(f"{key}: expected {wanted} such as {like}, not {value!r:.60}")
    return value


def _golden(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong(
            'golden: expected the body of a function of the inputs ("return [a + b]") or'
            f' "module:function", not {value!r:.60}'
        )
    return value


def _dists(value: object) -> tuple[str, ...]:
    if value is None:
        return ("normal",)
    found = [_one_of(d, DISTS, "dists") for d in _listed(value, "dists", 1, '["normal", "big"]')]
    return tuple(dict.fromkeys(found))


def _arrays(value: object, key: str, least: int) -> tuple[Array, ...]:
    entries = _listed(value, key, least, '[["a", "f4", ["n"]]]')
    found = tuple(_array(entry, f"{key}[{place}]") for place, entry in enumerate(entries))
    for place, array in enumerate(found):
        if key == "outputs" and array.scalar:
            raise _Wrong(
                f"{key}[{place}]: {array.name} is a number by value and cannot be written; give it"
                " dims [1]"
            )
    return found


def _array(entry: object, at: str) -> Array:
    if not isinstance(entry, (list, tuple)) or len(entry) not in (2, 3):
        raise _Wrong(f'{at}: expected ["name", "f4", ["n"]], not {entry!r:.60}')
    name, dtype, dims = (*entry, ()) if len(entry) == 2 else entry
    sound = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    if not sound or name.startswith("__"):
        raise _Wrong(f"{at}: expected a name, not {name!r:.40}")
    dims = [dims] if isinstance(dims, str) else dims
    sound = isinstance(dims, (list, tuple)) and all(
        isinstance(dim, (int, str)) and not isinstance(dim, bool) for dim in dims
    )
    if not sound:
        raise _Wrong(f"{at}: expected dimensions of names and integers, not {dims!r:.60}")
    dtype = _one_of(dtype, (*DTYPES, "scalar", "int"), at)
    if dims and dtype in ("scalar", "int"):
        raise _Wrong(
            f"{at}: {name} is a {dtype} and has no dimensions; an array is one of"
            f" {', '.join(DTYPES)}"
        )
    if not dims:
        dtype = _by_value(name, dtype, at)
    for dim in dims:
        _names(dim, at)
    return Array(name, dtype, tuple(dims))


def _by_value(name: str, dtype: str, at: str) -> str:
    """The dtype of a number without dimensions."""
    if dtype in ("scalar", "f4", "f8"):
        return "scalar"
    if dtype == "int" or dtype[0] in "iu":
        return "int"
    raise _Wrong(
        f"{at}: {name} has no dimensions; a number by value is a scalar or an int, not {dtype}"
    )


def _names(dim: int | str, at: str) -> frozenset[str]:
    try:
        return names_in(dim)
    except BadDim as bad:
        raise _Wrong(f"{at}: dimension {bad}") from None


def _distinct(inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
    names = [array.name for array in (*inputs, *outputs)]
    for name in names:
        if names.count(name) > 1:
            raise _Wrong(
                f"outputs: the name {name!r} is given twice; inputs and outputs have names of"
                " their own"
            )


def _sizes(
    value: object, key: str, inputs: tuple[Array, ...], outputs: tuple[Array, ...], least: int
) -> tuple[Mapping[str, int], ...]:
    arrays = (*inputs, *outputs)
    dims = {name for array in arrays for dim in array.dims for name in _names(dim, "inputs")}
    known = dims | {array.name for array in inputs if array.dtype == "int"}
    found = []
    for place, sizes in enumerate(_listed(value, key, least, '[{"n": 257}]')):
        at = f"{key}[{place}]"
        if not isinstance(sizes, Mapping) or any(
            type(size) is not int or size < 1 for size in sizes.values()
        ):
            raise _Wrong(f"{at}: expected a table of integers from 1, not {sizes!r:.60}")
        if missing := sorted(dims - set(sizes)):
            raise _Wrong(f"{at}: no size for {', '.join(missing)}, so shapes do not resolve")
        if unused := sorted(set(sizes) - known, key=str):
            raise _Wrong(
                f"{at}: {unused[0]!r:.40} is a dimension of no array;"
                f" {_near(unused[0], sorted(known))}"
            )
        for array in arrays:
            _resolves(array, sizes, at)
        found.append(dict(sizes))
    return tuple(found)


def _resolves(array: Array, sizes: Mapping[str, int], at: str) -> None:
    try:
        shape = array.shape(sizes)
    except BadDim as bad:
        raise _Wrong(f"{at}: {array.name}: dimension {bad}") from None
    size = 16
    for extent in shape:
        size *= extent
    if any(extent < 1 for extent in shape) or size > MOST_BYTES:
        raise _Wrong(
            f"{at}: {array.name} would have the shape {shape}; extents are from 1 and an array is"
            f" at most {MOST_BYTES // 16} elements"
        )


def _tolerance(value: object) -> Tolerance:
    if value is None:
        return Tolerance()
    if not isinstance(value, Mapping):
        raise _Wrong(f"tol: expected a table with {', '.join(_TOL)}, not {value!r:.60}")
    for key in value:
        if key not in _TOL:
            raise _Wrong(f"tol.{key}: there is no such key; {_near(key, _TOL)}")
    numbers = []
    for key in ("atol", "rtol"):
        number = value.get(key, 0.0)
        if (
            isinstance(number, bool)
            or not isinstance(number, (int, float))
            or not 0 <= number < 1e300
        ):
            raise _Wrong(f"tol.{key}: expected a finite number from 0, not {number!r:.40}")
        numbers.append(float(number))
    scale = value.get("scale") or ""
    if isinstance(scale, str):
        scale = scale.removesuffix("?")
    contract = value.get("contract")
    if contract is not None and not isinstance(contract, bool):
        raise _Wrong(f"tol.contract: expected true or false, not {contract!r:.40}")
    return Tolerance(numbers[0], numbers[1], _one_of(scale, SCALES, "tol.scale"), contract)


def _limits(value: object) -> Limits:
    if value is None:
        return Limits()
    if not isinstance(value, Mapping):
        raise _Wrong(f"limits: expected a table, not {value!r:.60}")
    for key, number in value.items():
        if key not in _LIMITS:
            raise _Wrong(f"limits.{key}: there is no such limit; {_near(key, _LIMITS)}")
        least = 1 if key == "threads_per_block" else 0
        if key == "arch":
            digits = (
                number[3:].rstrip("af") if isinstance(number, str) and number[:3] == "sm_" else ""
            )
            if not (digits.isascii() and digits.isdigit() and 2 <= len(digits) <= 3):
                raise _Wrong(f'limits.arch: expected such as "sm_90", not {number!r:.40}')
        elif type(number) is not int or number < least:
            raise _Wrong(f"limits.{key}: expected an integer from {least}, not {number!r:.40}")
    return Limits(**value)


def _values(value: object, inputs: tuple[Array, ...]) -> Mapping[str, float | int]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _Wrong(f"values: expected a table of scalars and their numbers, not {value!r:.60}")
    scalars = {array.name: array.dtype for array in inputs if array.scalar}
    found: dict[str, float | int] = {}
    for name, number in value.items():
        if name not in scalars:
            raise _Wrong(
                f"values.{name}: there is no such scalar among the inputs;"
                f" {_near(name, sorted(scalars))}"
            )
        whole = type(number) is int and abs(number) < 1 << 63
        if not whole and (scalars[name] == "int" or type(number) is not float):
            raise _Wrong(
                f"values.{name}: expected {'an integer' if scalars[name] == 'int' else 'a number'},"
                f" not {number!r:.40}"
            )
        found[name] = number if scalars[name] == "int" else float(number)
    return found
