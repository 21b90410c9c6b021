"""The options of a stage that runs programs in a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import field, frozen, validators

from .isolation import Isolation
from .port import get
from .tiers import TIERS

__all__ = ["SandboxOptions"]


def _doc(text: str, **more: object) -> dict[str, Any]:
    return {"doc": text, **more}


@frozen(kw_only=True)
class SandboxOptions:
    """Options that each stage with a sandbox has; such a stage is a subclass.

    Stages with the same options share warm processes::

        @frozen(kw_only=True)
        class Compiles(SandboxOptions):
            budget: float = 10.0

            @property
            def default_timeout(self):
                return 60 * self.budget

            async def check(self, attempt):
                session = await self.chosen.open(Profile(cpu_s=self.budget))

    Args:
        isolation: the name of a sandbox.
        min_isolation: the weakest tier that is accepted.
        sandbox: options of the sandbox.
    """

    untrusted: ClassVar[str] = "programs"  # what runs there, for messages

    isolation: str = field(
        default="jail",
        validator=validators.instance_of(str),
        metadata=_doc(
            "jail, docker, docker+gvisor, remote, process (no isolation, for trusted code), or the"
            " sandbox of another plugin, as plugin/name",
            safe=("jail", "docker+gvisor"),
        ),
    )
    min_isolation: str = field(
        default="jail",
        validator=validators.in_(TIERS),
        metadata=_doc(
            "the weakest tier that is accepted; a task of code may require a stronger one",
            safe=("jail", "gvisor", "microvm"),
        ),
    )
    sandbox: Mapping[str, object] = field(
        factory=dict, metadata=_doc("options of the sandbox, as a table", safe=False)
    )

    def __attrs_post_init__(self) -> None:
        self.chosen.check(self.untrusted)
        if self.sandbox or not self.chosen.is_deferred:
            # an error now, and not with each verdict
            get(self.isolation, **self.sandbox)

    @property
    def chosen(self) -> Isolation:
        """The sandbox that the options name."""
        return Isolation(self.isolation, self.sandbox, self.min_isolation)

    @property
    def default_timeout(self) -> float:
        """Wall seconds of one response, on a busy machine; each stage says its own."""
        raise NotImplementedError

    @property
    def least_timeout(self) -> float:
        """The default: with a shorter one, a response that loops is unscored on a busy machine, and
        not 0.
        """
        return self.default_timeout

    @property
    def at_once(self) -> int:
        """As many as there are places in the sandbox: the others wait where no clock runs."""
        return self.chosen.places
