"""A process of its own that loads one plugin and asks its sandboxes what they can do here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from rlenv_cli.console import one_line

Line = tuple[str, str, bool]  # which sandbox, what it says, whether it can be used


def diagnoses(plugin: str) -> Iterator[Line]:
    """What each sandbox of this plugin says of itself, or why it says nothing."""
    from rlenv.model.errors import PluginError
    from rlenv.plugins.registry import registry

    try:
        names = list(registry().supplied(plugin, "rlenv_parts").get("sandbox") or {})
    except PluginError as error:
        yield f"plugin {plugin}", one_line(str(error), 600), False
        return
    for name in names:
        try:
            for line in registry().parts("sandbox", f"{plugin}/{name}")().diagnose():
                yield f"{plugin}/{name}", one_line(f"{line.what}: {line.said}", 600), line.ok
        except Exception as error:  # noqa: BLE001 - one that is broken hides no other
            why = one_line(f"{type(error).__name__}: {error}", 400)
            yield f"{plugin}/{name}", why, False


def main() -> None:
    """Write what the plugin named on the command line says, as JSON lines, to standard output."""
    out = os.dup(1)
    os.dup2(2, 1)  # what a plugin prints is not part of it
    for line in diagnoses(sys.argv[1]):
        os.write(out, json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    main()
