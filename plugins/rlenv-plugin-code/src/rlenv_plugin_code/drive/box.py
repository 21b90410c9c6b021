"""Sandboxes, profiles and sessions: where the programs of code environments run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from rlenv.sandbox import Isolation, Profile, Sandbox, Session

from rlenv_plugin_code.languages import language as language_of

__all__ = ["Box", "guest_files", "profile_of"]


PIDS = 64
OUTPUT_BYTES = 1 << 20
_GUEST = (
    "rlenv_codec",
    "rlenv_called",
    "rlenv_guest",
    "rlenv_objects",
    "rlenv_things",
    "rlenv_asserts",
)
_OTHERS = ("rlenv_pytest", "rlenv_suite", "rlenv_names", "rlenv_style")
_WARM = (  # what most programs import; cold, `typing` alone costs more than all the rest of a run
    *("bisect", "collections", "copy", "functools", "heapq", "itertools", "math", "operator"),
    *("random", "re", "resource", "string", "typing"),
)


@cache
def guest_files() -> tuple[tuple[str, bytes], ...]:
    """The modules of the far side, for ``Profile.files``."""
    folder = Path(__file__).parents[1] / "guest"
    names = [f"{name}.py" for name in (*_GUEST, *_OTHERS)]
    return tuple(sorted((name, (folder / name).read_bytes()) for name in names))


@lru_cache(64)
def profile_of(
    runtime: str,
    *,
    preload: tuple[str, ...],
    budget: float,
    memory_mb: int,
    min_isolation: str,
    hash_seed: int = 0,
    pids: int = PIDS,
    output_bytes: int = OUTPUT_BYTES,
) -> Profile:
    """The profile of a run; equal ones share warm processes."""
    warm = runtime != "native"
    return Profile(
        runtime=runtime,
        preload=(*_GUEST, *_WARM, *preload) if warm else (),
        cpu_s=budget,
        wall_s=budget,
        memory_mb=memory_mb,
        pids=pids,
        output_bytes=output_bytes,
        files=guest_files() if warm else (),
        min_isolation=min_isolation,
        hash_seed=hash_seed,
    )


@frozen
class Box:
    """A sandbox and what its profiles have in common.

    Args:
        isolation: a sandbox, as ``rlenv.sandbox.Isolation`` names it.
        options: for the sandbox.
        min_isolation: the weakest tier that is accepted.
        memory_mb: MiB per program.
        budget: seconds per program, of CPU and of wall time.
        preload: modules that are imported before a Python program starts.
        hash_seed: of Python programs.
    """

    isolation: str = "jail"
    options: Mapping[str, Any] = {}
    min_isolation: str = "jail"
    memory_mb: int = 512
    budget: float = 25.0
    preload: tuple[str, ...] = ()
    hash_seed: int = 0
    pids: int = PIDS
    output_bytes: int = OUTPUT_BYTES

    @property
    def chosen(self) -> Isolation:
        """The sandbox that is named."""
        return Isolation(self.isolation, self.options, self.min_isolation)

    def make(self) -> Sandbox:
        """Another one of the same kind, for whoever closes it.

        Raises:
            ConfigError: no plugin supplies it.
        """
        make: Any = self.chosen.adapter()
        made: Sandbox = make(**self.options)
        return made

    def profile(self, language: str) -> Profile:
        """The profile for runs of programs of this language."""
        return profile_of(
            language_of(language).runtime,
            preload=self.preload,
            budget=self.budget,
            memory_mb=self.memory_mb,
            min_isolation=self.min_isolation,
            hash_seed=self.hash_seed,
            pids=self.pids,
            output_bytes=self.output_bytes,
        )

    async def open(self, language: str, *, beside: bool = False) -> Session:
        """Lease a place, for a program that runs ``beside`` another one or for any other.

        Raises:
            ConfigError: the profile cannot be had here.
            VerifierFault: the sandbox cannot be reached now.
        """
        profile = self.profile(language)
        profile = evolve(profile, beside=True) if beside else profile
        return await self.chosen.open(profile)
