"""The environments of a server, by the names that routes have, and signed references to their
tasks.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from attrs import define, field
from rlenv import Composite, ConfigError, Environment, Slot, Task, UnknownTask
from rlenv.authoring import plain, secret, suggest

from .http.problems import Problem, invalid, not_found

# Tasks up to which an unknown id is compared with all: for 2,000 of them that holds the loop for 40
# ms.
ALIKE = 100
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
# First segments of paths of this server, of ORS, and of its official servers and clients.
RESERVED = frozenset(
    [
        "assets",
        "call",
        "compat",
        "create",
        "create_session",
        "delete",
        "delete_session",
        "docs",
        "environments",
        "episodes",
        "health",
        "healthz",
        "list_environments",
        "mcp",
        "messages",
        "metrics",
        "num_tasks",
        "openapi.json",
        "openenv",
        "ping",
        "prompt",
        "readyz",
        "reset",
        "schema",
        "score_group",
        "splits",
        "state",
        "step",
        "task",
        "task_range",
        "task_tools",
        "tasks",
        "tools",
        "trajectories",
        "v1",
        "verify",
        "version",
    ]
)


@define(slots=False)
class Served:
    """One environment of a server.

    Args:
        name: in routes; lower case.
        env: the environment, loaded.
    """

    name: str
    env: Environment
    _key: bytes = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or self.name in RESERVED:
            why = "is a path of the server" if self.name in RESERVED else "is no name for a path"
            raise ConfigError(
                f"{self.name!r:.80} {why}: serve the environment under another name, as in `rlenv"
                " serve NAME=env.toml`"
            )
        self._key = hmac.new(
            secret(), b"rlenv task reference\0" + self.name.encode(), "sha256"
        ).digest()

    @cached_property
    def splits(self) -> Mapping[str, tuple[Task, ...]]:
        """The tasks of each split, in order."""
        names = dict.fromkeys(task.split for task in self.env.tasks)
        return {
            name: tuple(task for task in self.env.tasks if task.split == name) for name in names
        }

    @cached_property
    def revision(self) -> str:
        """Changes with the tasks and with what verifies them; 16 hex digits."""
        return hmac.new(
            self._key, f"{self.env.fingerprint} {self.env.tasks.sha256}".encode(), "sha256"
        ).hexdigest()[:16]

    def digest(self, task: Task) -> str:
        """Changes with the task, its answer included, and tells nothing of it."""
        return hmac.new(
            self._key,
            _canonical([task.id, task.prompt, task.answer, task.info, task.split]),
            "sha256",
        ).hexdigest()

    def task(self, id: str) -> Task:  # noqa: A002 - the field's name
        """The task of this id.

        Raises:
            Problem: 404 when there is none.
        """
        if found := self.env.tasks.get(id):
            return found
        if len(self.env.tasks) > ALIKE:
            raise not_found(
                f"{self.name} has no task {id!r:.80}: GET /environments/{self.name}/tasks lists"
                " what there is"
            )
        try:
            return self.env.tasks.by_id(id)
        except UnknownTask as error:
            raise not_found(str(error)) from None

    def spec(self, task: Task) -> dict[str, object]:
        """Return what a client is given of a task: what a policy may see, and a signature.  The
        answer stays here.
        """
        public = plain(task.public())
        assert isinstance(public, dict)
        public = {"task_id": public.pop("id"), **public, "rev": self.revision}
        return {**public, "mac": hmac.new(self._key, _canonical(public), "sha256").hexdigest()}

    def of_spec(self, spec: object) -> Task:
        """The task that ``spec`` made a reference to.

        Raises:
            Problem: 400 for what is not such a reference, or is one of another revision.
        """
        if isinstance(spec, Mapping) and isinstance(id := spec.get("task_id"), str):  # noqa: A001 - as above
            known = self.spec(self.task(id))
            if spec.get("rev") != self.revision:
                raise invalid(
                    f"this reference to task {id!r:.80} is of another revision of {self.name}: list"
                    " the tasks again",
                    400,
                )
            if spec.keys() == known.keys() and hmac.compare_digest(
                _canonical(spec), _canonical(known)
            ):
                return self.env.tasks.by_id(id)
        raise Problem(
            400,
            "unsigned_task",
            "a task is named by the reference that this server gave for it, unchanged, signature"
            " included",
        )


class Catalog(dict[str, Served]):
    """The environments of a server, by name.

    Args:
        served: in the order in which they were given.

    Raises:
        ConfigError: when two have one name.
    """

    def __init__(self, served: Iterable[Served]) -> None:
        super().__init__()
        for each in served:
            if self.setdefault(each.name, each) is not each:
                raise ConfigError(
                    f"two environments are named {each.name!r}: serve one under another name, as in"
                    " `rlenv serve NAME=env.toml`"
                )

    def lookup(self, name: str) -> Served:
        """The environment of this name, in upper or lower case.

        Raises:
            Problem: 404 when there is none.
        """
        if (found := self.get(name.lower())) is None:
            hint = suggest(name, tuple(self), what="there are")
            raise not_found(f"no environment is named {name!r:.80}; {hint}")
        return found


def stages(slots: Sequence[Slot], depth: int = 0) -> Iterator[str]:
    """Return a line for each stage, without its options: they may hold what the operator keeps to
    itself.

    Args:
        slots: of a composite.
        depth: of the composite in others.
    """
    for slot in slots:
        yield f"{'  ' * depth}{slot.name}: {slot.kind}, weight {slot.weight:g}"
        if isinstance(slot.stage, Composite):
            yield from stages(slot.stage.slots, depth + 1)


def _canonical(value: object) -> bytes:
    return json.dumps(plain(value), sort_keys=True).encode()
