"""What launch plans of Triton answers ask for: arrays, and launches whose programs run in a drawn
order.
"""

from __future__ import annotations

# ruff: noqa: TID252 - of the package only what the judge sends lies beside it
import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ...planning.reading import Grid
from ...planning.values import Dtype, Handle, Trouble
from ..memory import STORAGE, Buffer, Space
from ..names import LAUNCH
from ..rules import Answer, Config
from .triton_functions import plain
from .triton_machine import Machine, to_bf16

np: Any = import_module("numpy")

__all__ = ["Host", "bound", "chosen", "sizes"]

LAUNCHES = 4096
_MOST = (2**31 - 1, 65535, 65535)
_WARPS = (1, 2, 4, 8, 16, 32)


class Host:
    """Allocates, launches and counts, for one case.

    Args:
        answer: what launches.
        machine: the interpreter.
        space: the memory of the case.
    """

    def __init__(self, answer: Answer, machine: Machine, space: Space) -> None:
        self.answer = answer
        self.machine = machine
        self.space = space
        self.functions: Mapping[str, Callable[..., Any]] = {}
        self.launches = 0
        self.threads = 0
        self.launched: dict[str, list[Any]] = {}

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:
        """A new array; ``fill`` None leaves poison in it."""
        made = Handle(None, shape, code)
        made.buffer = self.space.temporary(made.size, code)
        if fill is not None:
            self.fill(made, fill)
        return made

    def fill(self, array: Handle, value: float) -> None:
        """Every element becomes this."""
        buffer = array.buffer
        assert isinstance(buffer, Buffer)
        if not buffer.writable:
            raise Trouble("input", f"`{buffer.name}` is an input, and is written")
        filled = np.array(value, "<f4" if buffer.code == "bf16" else STORAGE[buffer.code])
        buffer.data[:] = to_bf16(filled) if buffer.code == "bf16" else filled
        buffer.known = None

    def launch(
        self,
        kernel: str,
        shape: object,
        args: Sequence[object],
        named: Mapping[str, object],
        line: int,
    ) -> None:
        """Run every program of a grid to its end.

        Raises:
            Trouble: what no launch may be, or its kernel does.
        """
        self.launches += 1
        if self.launches > LAUNCHES:
            raise Trouble("launches", f"more than {LAUNCHES} launches", line)
        function = self.answer.functions[kernel]
        config = chosen(function.configs, self.space.chance.randrange(1 << 30))
        given, options = bound(self.functions[kernel], args, named, config)
        grid = sizes(shape(given) if isinstance(shape, Grid) else shape)
        warps = options.get("num_warps", 4)
        self.threads = max(self.threads, 32 * warps)
        types = [_type(value) for name, value in given.items() if name not in function.constexpr]
        self.launched.setdefault(f"{kernel} {types}", [kernel, types, 0, 32 * warps])
        passed = {
            name: plain(value) if name in function.constexpr else self._passed(value)
            for name, value in given.items()
        }
        self._programs(self.functions[kernel], grid, passed)

    def _programs(
        self, call: Callable[..., object], grid: tuple[int, int, int], given: Mapping[str, object]
    ) -> None:
        count = grid[0] * grid[1] * grid[2]
        self.space.launch(count)
        self.machine.grid(grid)
        self.machine.space = self.space
        order: Sequence[int] = range(count)
        if count <= 1 << 20:
            order = (
                np.random.default_rng(self.space.chance.randrange(1 << 62))
                .permutation(count)
                .tolist()
            )
        for place in order:
            rest, x = divmod(place, grid[0])
            z, y = divmod(rest, grid[1])
            self.machine.at(x, y, z)
            self.space.races.begin(place)
            call(**given)

    def _passed(self, value: object) -> Any:
        if isinstance(value, Handle):
            assert isinstance(value.buffer, Buffer)
            return self.machine.pointer(value.buffer.base, value.code)
        if isinstance(value, (int, float)):
            if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
                raise Trouble("type", "a number of more than 64 bits is given to a kernel")
            return self.machine.number(value)
        if value is None:
            return None
        raise Trouble("type", "kernels take arrays, numbers and None")


def chosen(configs: Sequence[Config], chance: int) -> Config | None:
    """Of what ``triton.autotune`` might take, any: it may take any."""
    return configs[chance % len(configs)] if configs else None


def bound(
    call: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], config: Config | None
) -> tuple[dict[str, Any], dict[str, int]]:
    """(what each parameter gets, options of the launch).

    Raises:
        Trouble: they do not fit.
    """
    options = {name: value for name, value in named.items() if name in LAUNCH}
    own = inspect.signature(call)
    rest = {
        name: value for name, value in named.items() if name not in LAUNCH or name in own.parameters
    }
    if config is not None:
        rest = {**rest, **config.constants}
        options = {**options, **config.options}
    if options.get("num_warps", 4) not in _WARPS or not all(
        type(value) is int for value in options.values()
    ):
        raise Trouble("launch", f"num_warps is one of {_WARPS}")
    try:
        got = own.bind(*args, **rest)
    except TypeError as error:
        raise Trouble("arguments", f"a launch: {error}") from None
    got.apply_defaults()
    return dict(got.arguments), options


def sizes(given: object) -> tuple[int, int, int]:
    """The grid, with three sizes."""
    listed = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(listed) <= 3 or not all(type(size) is int for size in listed):
        raise Trouble("launch", f"a grid of {given!r:.60}; it has one to three integers")
    for size, most in zip(listed, _MOST, strict=False):
        if not 0 <= size <= most:  # Triton launches nothing then
            raise Trouble("launch", f"a grid of {listed}; each from 0, at most {_MOST}")
    x, y, z = (*listed, 1, 1)[:3]
    return x, y, z


def _type(value: object) -> str:
    if isinstance(value, Handle):
        return f"{value.code}[{len(value.shape)}]"
    if isinstance(value, Dtype):
        return "type"
    return type(value).__name__
