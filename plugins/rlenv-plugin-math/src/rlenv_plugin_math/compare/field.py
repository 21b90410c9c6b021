"""A large random prime field in which every small prime and -1 has a square root.

Identities between rational functions and square roots survive the map into such a field, and what is
no identity survives with a chance below 2^-100; so one evaluation does the work of a normal form, at a
cost that is linear in the expression.  The prime is drawn once per process, where no response sees it.
"""

from __future__ import annotations

import secrets
from functools import cache

from rlenv_plugin_math.compare.exact import PRIMES

_ROOTED = tuple(prime for prime in PRIMES if prime < 100)


class Field:
    """Arithmetic modulo ``modulus``, a prime of about 190 bits that is 1 modulo 8 and each prime < 100."""

    def __init__(self, modulus: int) -> None:
        self.modulus = modulus
        self._twos = ((modulus - 1) & -(modulus - 1)).bit_length() - 1
        self._odd = (modulus - 1) >> self._twos
        self._generator = self._non_residue()
        self._roots: dict[int, int | None] = {}

    def _non_residue(self) -> int:
        candidate = 101
        while self._is_square(candidate):
            candidate += 2
        return pow(candidate, self._odd, self.modulus)

    def _is_square(self, value: int) -> bool:
        return pow(value, (self.modulus - 1) // 2, self.modulus) == 1

    def sqrt(self, value: int) -> int | None:
        """A square root of a prime or of -1, always the same one; None where the field has none."""
        if value not in self._roots:
            if len(self._roots) > 4096:
                self._roots.clear()
            root = self._tonelli(value % self.modulus) if self._is_square(value) else None
            self._roots[value] = root
        return self._roots[value]

    def _tonelli(self, value: int) -> int:
        modulus, order, step = self.modulus, self._twos, self._generator
        residue = pow(value, self._odd, modulus)
        root = pow(value, (self._odd + 1) // 2, modulus)
        while residue != 1:
            power, square = 0, residue
            while square != 1:
                square = square * square % modulus
                power += 1
            factor = pow(step, 1 << (order - power - 1), modulus)
            order, step = power, factor * factor % modulus
            root, residue = root * factor % modulus, residue * step % modulus
        return root


@cache
def field() -> Field:
    """The field of this process."""
    step = 8
    for prime in _ROOTED[1:]:
        step *= prime
    while True:
        candidate = step * (secrets.randbits(64) | 1 << 63) + 1
        if _is_prime(candidate):
            return Field(candidate)


def _is_prime(candidate: int) -> bool:
    if pow(2, candidate - 1, candidate) != 1:
        return False
    twos = ((candidate - 1) & -(candidate - 1)).bit_length() - 1
    odd = (candidate - 1) >> twos
    return all(
        _passes(candidate, twos, odd, secrets.randbelow(candidate - 3) + 2) for _ in range(24)
    )


def _passes(candidate: int, twos: int, odd: int, base: int) -> bool:
    value = pow(base, odd, candidate)
    if value in (1, candidate - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % candidate
        if value == candidate - 1:
            return True
    return False
