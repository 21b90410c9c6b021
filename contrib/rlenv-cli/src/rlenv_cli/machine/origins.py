"""Where the installed distributions of rlenv come from, and other projects of the same names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit

from attrs import frozen

CORE = "rlenv-core"
GROUP = "rlenv"
# Other projects on the package index that have names and packages like ours.
FOREIGN = {
    "rlenv": "another project, whose package has the name `rlenv` too",
    "rlenv-audit": "another project, an auditor of environments for verifiers",
}


@frozen
class Origin:
    """An installed distribution of rlenv, or one with an entry point for it.

    Args:
        name: the normalized name, such as ``rlenv-plugin-math``.
        version: the installed version.
        source: where pip took it from, for people.
        warning: why it should not be here; "" for none.
    """

    name: str
    version: str
    source: str
    warning: str = ""


def origins(found: Iterable[Distribution] | None = None) -> Iterator[Origin]:
    """Yield every distribution of rlenv's names or entry points, the first on the path for each
    name.

    Args:
        found: the distributions to look at; those on ``sys.path`` unless given.
    """
    first: dict[str, Distribution] = {}
    for each in distributions() if found is None else found:
        name = normalized(each)
        if name == GROUP or name.startswith(f"{GROUP}-") or (name and _is_plugin(each)):
            first.setdefault(name, each)
    for name, each in sorted(first.items()):
        yield Origin(name, each.version, source(each), _warning(name))


def normalized(found: Distribution) -> str:
    """Return the name as the index compares it, "" where the metadata is broken."""
    try:
        return re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()
    except Exception:  # noqa: BLE001 - broken metadata of a stranger hides nothing else
        return ""


def source(found: Distribution) -> str:
    """Return where pip took a distribution from, by its ``direct_url.json`` (PEP 610)."""
    try:
        record = json.loads(found.read_text("direct_url.json") or "null")
    except ValueError:
        return "an unknown place: its direct_url.json is not valid JSON"
    if not isinstance(record, dict):
        return "a package index, or a folder that pip searched"
    url = str(record.get("url", ""))
    parts = urlsplit(url)
    place = unquote(parts.path) if parts.scheme == "file" else url
    folder = record.get("dir_info")
    editable = isinstance(folder, dict) and folder.get("editable") is True
    return f"{place} (editable)" if editable else place


def shadowed(imported: str, found: Distribution) -> str:
    """Return where ``rlenv`` is imported from if it is not the installed distribution, else "".

    Args:
        imported: the file of the imported package ``rlenv``.
        found: the installed distribution rlenv-core.
    """
    paths = [Path(str(found.locate_file(each))) for each in found.files or ()]
    own = {path.resolve() for path in paths if path.name == "__init__.py"}
    if not own or Path(imported).resolve() in own:  # an editable installation lists no modules
        return ""
    return imported


def _is_plugin(found: Distribution) -> bool:
    try:
        groups = {each.group for each in found.entry_points}
    except Exception:  # noqa: BLE001 - as above
        return False
    return any(group == GROUP or group.startswith(f"{GROUP}.") for group in groups)


def _warning(name: str) -> str:
    if name not in FOREIGN:
        return ""
    remedy = f"`pip uninstall {name}`, then install {CORE} again, whose files it may have replaced"
    return f"{FOREIGN[name]}; {remedy}"
