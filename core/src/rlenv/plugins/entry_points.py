"""One entry point of a distribution, as its metadata tells."""

from __future__ import annotations

from attrs import frozen


@frozen
class PluginInfo:
    """One entry point of a distribution, as its metadata tells.

    Args:
        name: its name; of a plugin, what ``use`` begins with.
        distribution, version: what ``pip`` calls it; the first, where several claim the name.
        target: what the entry point names, as ``module`` or ``module:name``.
        error: why it cannot be used, with the traceback where its import failed; None while unknown
            or well.
        api: its ``RLENV_API``; None before it is loaded.
    """

    name: str
    distribution: str
    version: str
    target: str
    error: str | None = None
    api: int | None = None

    def __str__(self) -> str:
        return f"plugin '{self.name}' ({self.distribution} {self.version})"
