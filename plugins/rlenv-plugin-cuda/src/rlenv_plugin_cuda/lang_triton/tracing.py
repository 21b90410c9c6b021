"""Which versions of which kernels a plan launches: followed over shapes alone, without data and
without kernels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlenv_plugin_cuda.planning.reading import Plan
from rlenv_plugin_cuda.planning.values import Dtype, Handle, Trouble

from .names import LAUNCH
from .rules import Answer, Config, Function

__all__ = ["MOST", "Version", "versions"]

MOST = 24  # versions of the kernels of one answer
_TYPES = {
    "f2": "fp16", "bf16": "bf16", "f4": "fp32", "f8": "fp64", "i1": "i8", "i2": "i16", "i4": "i32",
    "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "b1": "i1",
}  # fmt: skip


class Version:
    """One kernel for types, constants and options of the compiler.

    Args:
        signature: parameter -> Triton's name of its type ("*fp32", "i32", "constexpr").
        constants: parameter -> value.
        aligned: parameters that are multiples of 16.
    """

    def __init__(
        self,
        kernel: str,
        signature: dict[str, str],
        constants: dict[str, object],
        aligned: tuple[str, ...],
        options: dict[str, int],
    ) -> None:
        self.kernel = kernel
        self.signature = signature
        self.constants = constants
        self.aligned = aligned
        self.options = options

    def key(self) -> str:
        """Equal for versions that are compiled alike."""
        constants = {name: getattr(value, "code", value) for name, value in self.constants.items()}
        return repr(
            (self.kernel, self.signature, constants, self.aligned, sorted(self.options.items()))
        )


class _Host:
    """Records launches."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.found: dict[str, Version] = {}
        self.signatures = {
            name: _signature(function) for name, function in answer.functions.items()
        }

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:  # noqa: ARG002 - of the port
        """An array that holds nothing."""
        return Handle(None, shape, code)

    def fill(self, array: Handle, value: float) -> None:
        """Nothing is held."""

    def launch(
        self,
        kernel: str,
        shape: Any,  # noqa: ARG002 - a grid makes no version
        args: Sequence[Any],
        named: Mapping[str, Any],
        line: int,
    ) -> None:
        """Note what a launch compiles."""
        function = self.answer.functions[kernel]
        configs: Sequence[Config | None] = function.configs or (None,)
        for config in configs:
            own = function.parameters
            given = {
                name: value for name, value in named.items() if name not in LAUNCH or name in own
            }
            options = {name: value for name, value in named.items() if name in LAUNCH}
            if config is not None:
                given = {**given, **config.constants}
                options = {**options, **config.options}
            try:
                bound = self.signatures[kernel].bind(*args, **given)
            except TypeError as error:
                raise Trouble("arguments", f"a launch: {error}", line) from None
            made = _version(function, dict(bound.arguments), options)
            self.found.setdefault(made.key(), made)
            if len(self.found) > MOST:
                raise Trouble(
                    "versions", f"more than {MOST} versions of kernels; take fewer configs", line
                )


def _signature(function: Function) -> inspect.Signature:
    args = function.node.args
    optional = len(args.args) - len(args.defaults)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    only = inspect.Parameter.KEYWORD_ONLY
    made = [
        inspect.Parameter(
            one.arg, kind, default=None if place >= optional else inspect.Parameter.empty
        )
        for place, one in enumerate(args.args)
    ]
    for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        made.append(
            inspect.Parameter(one.arg, only, default=None if default else inspect.Parameter.empty)
        )
    return inspect.Signature(made)


def _version(function: Function, given: dict[str, object], options: dict[str, int]) -> Version:
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    aligned = []
    for name in function.parameters:
        if name not in given:
            continue  # its default, which the compiler knows
        value = given[name]
        if name in function.constexpr or value is None or (type(value) is int and value == 1):
            signature[name] = "constexpr"
            constants[name] = value
        elif isinstance(value, Handle):
            signature[name] = f"*{_TYPES[value.code]}"
            aligned.append(name)
        elif isinstance(value, bool):
            signature[name] = "u1"
        elif isinstance(value, int):
            signature[name] = "i32" if -(1 << 31) <= value < 1 << 31 else "i64"
            aligned += [name] if value % 16 == 0 else []
        elif isinstance(value, float):
            signature[name] = "fp32"
        else:
            raise Trouble("type", "kernels take arrays, numbers and None")
    return Version(function.name, signature, constants, tuple(aligned), options)


def versions(
    answer: Answer, cases: Sequence[Sequence[Any]], dtype: Callable[[str], Any]
) -> list[Version]:
    """What is launched for these cases: ``[[dtype, shape or None, value], …]`` each.

    Raises:
        Trouble: a plan that goes wrong.
    """
    host = _Host(answer)
    assert answer.plan is not None
    for case in cases:
        given = [
            value if shape is None else Handle(None, shape, code) for code, shape, value in case
        ]
        Plan(answer.plan, answer.names, host).run(given)
    if not host.found:
        raise Trouble("launch", "no kernel is launched")
    for version in host.found.values():
        constants = version.constants
        version.constants = {
            name: dtype(value.code) if isinstance(value, Dtype) else value
            for name, value in constants.items()
        }
    return list(host.found.values())
