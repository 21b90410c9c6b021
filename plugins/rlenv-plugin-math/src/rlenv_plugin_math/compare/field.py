"""A large random prime field in which every small prime and -1 has a square root.

Identities between rational functions and square roots survive the map into such a field, and what
is no identity survives with a chance below 2^-100; so one evaluation does the work of a normal
form, at a cost that is linear in the expression.  The prime is drawn from rlenv's secret: no
response sees it, and every process has the same.  Another secret changes no verdict (but with that
chance), so ``math/equal`` does not declare ``draws``, and its fingerprint is the same on every
machine.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b, sha256

from rlenv_plugin_math.compare.exact import PRIMES

_ROOTED = tuple(prime for prime in PRIMES if prime < 100)
_KEPT = 4096  # elements and roots that are remembered
_ROUNDS = 24


class Field:
    """Arithmetic modulo ``modulus``, a prime of about 190 bits that is 1 modulo 8 and each prime <
    100.
    """

    def __init__(self, modulus: int, salt: bytes) -> None:
        self.modulus = modulus
        self._salt = salt
        self._named: dict[str, int] = {}
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

    def element(self, name: str) -> int:
        """The random element that belongs to a symbol or a constant, always the same one."""
        found = self._named.get(name)
        if found is None:
            if len(self._named) > _KEPT:
                self._named.clear()
            found = self._named[name] = self.atom(name)
        return found

    def atom(self, name: str) -> int:
        """The random element that belongs to a text."""
        digest = blake2b(name.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=32)
        return int.from_bytes(digest.digest(), "big") % self.modulus

    def sqrt(self, value: int) -> int | None:
        """A square root of a prime or of -1, always the same one; None where the field has none."""
        if value not in self._roots:
            if len(self._roots) > _KEPT:
                self._roots.clear()
            root = self._tonelli(value % self.modulus) if self._is_square(value) else None
            self._roots[value] = root
        return self._roots[value]

    def _tonelli(self, value: int) -> int:
        modulus = self.modulus
        order = self._twos
        step = self._generator
        residue = pow(value, self._odd, modulus)
        root = pow(value, (self._odd + 1) // 2, modulus)
        while residue != 1:
            power = 0
            square = residue
            while square != 1:
                square = square * square % modulus
                power += 1
            factor = pow(step, 1 << (order - power - 1), modulus)
            order = power
            step = factor * factor % modulus
            root = root * factor % modulus
            residue = residue * step % modulus
        return root


@cache
def field() -> Field:
    """The field that the secret draws: about 2 ms, once per process.

    Raises:
        ConfigError: when the secret cannot be read.
    """
    from rlenv.authoring import secret

    seed = sha256(b"rlenv math field" + secret()).digest()
    step = 8
    for prime in _ROOTED[1:]:
        step *= prime
    turn = 0
    while True:
        candidate = step * (_drawn(seed, turn) >> 192 | 1 << 63) + 1
        if _is_prime(candidate, seed):
            return Field(candidate, seed)
        turn += 1


def _drawn(seed: bytes, count: int) -> int:
    """256 bits that nobody foresees without the seed."""
    return int.from_bytes(sha256(seed + count.to_bytes(8, "big")).digest(), "big")


def _is_prime(candidate: int, seed: bytes) -> bool:
    if pow(2, candidate - 1, candidate) != 1:
        return False
    twos = ((candidate - 1) & -(candidate - 1)).bit_length() - 1
    odd = (candidate - 1) >> twos
    bases = (2 + _drawn(seed, (1 << 32) + turn) % (candidate - 3) for turn in range(_ROUNDS))
    return all(_passes(candidate, twos, odd, base) for base in bases)


def _passes(candidate: int, twos: int, odd: int, base: int) -> bool:
    value = pow(base, odd, candidate)
    if value in (1, candidate - 1):
        return True
    for _ in range(twos - 1):
        value = value * value % candidate
        if value == candidate - 1:
            return True
    return False
