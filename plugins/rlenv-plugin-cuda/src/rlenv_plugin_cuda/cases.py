"""Which launches decide: every hidden shape, every distribution, in an order and number that nobody
knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import field, frozen

from .draws import generator, poison
from .indices import draw
from .spec import Kernel

__all__ = ["MOST", "Case", "cases_of"]

MOST = 24  # pairs of a shape and a distribution for one response
_HELD = 1 << 20  # elements of a case; a larger one is drawn anew each time it is asked for


@frozen(slots=False)
class Case:
    """One run of an answer's plan.

    Args:
        kernel: what it runs on.
        sizes: of the named dimensions.
        dist: what its inputs are drawn from.
        seed: of the orders of blocks and threads, below 2**62.
        inverted: whether outputs begin as the complement of what they otherwise would.
    """

    kernel: Kernel = field(repr=False)
    sizes: Mapping[str, int]
    dist: str
    seed: int = field(repr=False)
    _key: bytes = field(repr=False)
    _inputs: int = field(repr=False)
    _outputs: int = field(repr=False)
    inverted: bool = False

    @cached_property
    def elements(self) -> int:
        """How many elements its inputs and outputs have."""
        total = 0
        for array in (*self.kernel.inputs, *self.kernel.outputs):
            count = 1
            for extent in array.shape(self.sizes):
                count *= extent
            total += count
        return total

    @property
    def values(self) -> Mapping[str, Any]:
        """Of the inputs, by name: arrays, floats and ints. Not to be written to."""
        return self._drawn if self.elements <= _HELD else self._draw()

    @property
    def poison(self) -> tuple[bytes, ...]:
        """What outputs hold at first, in their order."""
        return tuple(self._first(place) for place in range(len(self.kernel.outputs)))

    @cached_property
    def _drawn(self) -> Mapping[str, Any]:
        return self._draw()

    def _draw(self) -> Mapping[str, Any]:
        rng = generator(self._key, "inputs", self._inputs)
        return draw(self.kernel, self.sizes, self.dist, rng)

    def _first(self, place: int) -> bytes:
        array = self.kernel.outputs[place]
        found = poison(array, self.sizes, generator(self._key, "poison", self._outputs, place))
        if self.kernel.output_init == "zero":
            return bytes(len(found))
        if not self.inverted:
            return found
        flip = bytes(byte ^ (1 if array.dtype == "b1" else 255) for byte in range(256))
        return found.translate(flip)


def cases_of(kernel: Kernel, key: bytes) -> tuple[Case, ...]:
    """The cases of one response.

    They are all shapes with all distributions where they are few, else each at least once.

    One case comes twice, with the same inputs over complementary outputs and in another order of
    threads, so that an element that is never written is wrong in one of them; another shape comes
    again, once or twice, with other inputs, so that what was kept from the last time is wrong.

    Args:
        key: 32 bytes, of ``attempt.key()``.
    """
    rng = generator(key, "order")
    pairs = [(sizes, dist) for sizes in kernel.hidden for dist in kernel.dists]
    rng.shuffle(pairs)
    if len(pairs) > MOST:
        pairs = _covering(pairs)
    rounds = [(sizes, dist, place, place, False) for place, (sizes, dist) in enumerate(pairs)]
    sizes, dist = pairs[0]
    rounds.append((sizes, dist, 0, 0, True))
    for again in range(1 + int(rng.integers(2))):
        sizes, dist = pairs[-1 - again % len(pairs)]
        rounds.append((sizes, dist, len(pairs) + again, len(pairs) + again, False))
    rng.shuffle(rounds)
    seeds = [int(seed) for seed in rng.integers(1 << 62, size=len(rounds))]
    return tuple(
        Case(
            kernel,
            sizes,
            dist,
            seed,
            key=key,
            inputs=inputs,
            outputs=outputs,
            inverted=inverted,
        )
        for (sizes, dist, inputs, outputs, inverted), seed in zip(rounds, seeds, strict=True)
    )


def _covering(pairs: list[tuple[Mapping[str, int], str]]) -> list[tuple[Mapping[str, int], str]]:
    """At most ``MOST`` pairs, or as many as have every shape and every distribution."""
    shapes: set[tuple[tuple[str, int], ...]] = set()
    dists: set[str] = set()
    chosen: list[tuple[Mapping[str, int], str]] = []
    left: list[tuple[Mapping[str, int], str]] = []
    for sizes, dist in pairs:
        shape = tuple(sorted(sizes.items()))
        new = shape not in shapes or dist not in dists
        (chosen if new else left).append((sizes, dist))
        shapes.add(shape)
        dists.add(dist)
    return chosen + left[: max(0, MOST - len(chosen))]
