"""The file system that a program sees: the system's own programs and libraries, read-only, and
nothing else.
"""

from __future__ import annotations

import os

import linux
import standard
import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BASE = "/sys"  # covered by the new root in a mount namespace of our own; no source lies below it
ROOT = BASE + "/a"
ROOTS = ("/a", "/b")  # after the move: two roots that show the same
READ_ONLY = linux.ATTR_RDONLY | linux.ATTR_NOSUID | linux.ATTR_NODEV
DEVICES = ("null", "zero", "full", "urandom", "random")
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types")
PEOPLE = {
    "passwd": b"root:x:0:0:root:/tmp:/bin/sh\nnobody:x:1000:1000:nobody:/tmp:/bin/sh\n",
    "group": b"root:x:0:\nnogroup:x:1000:\n",
}
_NOATIME = 1024
_SEALED = linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV
HOME = "/tmp"  # noqa: S108 - where each run has a file system of its own


def build(
    interpreter: Sequence[str],
    paths: Sequence[str],
    devices: Iterable[str],
    files: dict[str, bytes],
    *,
    workspace: bool,
) -> None:
    """Assemble two equal roots for programs and move above them.

    This takes a mount namespace of our own, with the right to mount.

    Packages that were installed beside an interpreter are seen only where ``paths`` names them: one
    of them may be an environment, with its expected outputs.

    Args:
        interpreter: directories and files of the interpreter, besides the system's.
        paths: directories to be seen at their own place, and files.
        devices: device files to be seen.
        files: {relative path: content} for /box.
        workspace: whether there is to be a place for one.
    """
    os.umask(0o022)  # other ids read what is made here
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("rlenv", BASE, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=64m,mode=755")
    os.mkdir(ROOT, 0o755)
    linux.mount("rlenv", ROOT, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=512m,mode=755")
    for name in SYSTEM:
        _system("/" + name)
    for path in interpreter:
        if not _inside(path, ("/usr",)):
            _show(path, READ_ONLY)
    hidden = _hide_packages(("/usr", "/usr/local", *interpreter), paths)
    for path in paths:
        if _inside(path, hidden) or not _inside(path, ("/usr", *interpreter)):
            _show(path, READ_ONLY)
    for folder in hidden:
        linux.mount(None, ROOT + folder, None, _SEALED)
    for path in SETTINGS:
        if os.path.exists(path):
            _show(path, READ_ONLY)
    for name, content in PEOPLE.items():
        tree.put(ROOT + "/etc/" + name, 0o644, content)
    for path in [*("/dev/" + name for name in DEVICES), *devices]:
        _show(path, linux.ATTR_RDONLY | linux.ATTR_NOSUID | linux.ATTR_NOEXEC)
    os.makedirs(ROOT + HOME, exist_ok=True)
    os.symlink(HOME, ROOT + "/dev/shm")  # noqa: S108
    standard.link(ROOT)
    os.makedirs(ROOT + "/box", exist_ok=True)
    if workspace:
        os.mkdir(ROOT + tree.WORKDIR, 0o755)
    for name, content in files.items():
        tree.put(ROOT + "/box/" + name, 0o755 if name.endswith(".sh") else 0o644, content)
    linux.mount(None, ROOT, None, _SEALED)
    os.mkdir(BASE + ROOTS[1], 0o755)
    linux.mount(ROOT, BASE + ROOTS[1], None, linux.MS_BIND | linux.MS_REC)
    linux.pivot_root(BASE)
    linux.mount(None, "/", None, _SEALED)


def enter_root() -> int:
    """See what programs see, for a while; a descriptor of the root above, for ``leave_root``."""
    above = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chroot(ROOTS[0])
    os.chdir("/")
    return above


def leave_root(above: int) -> None:
    """See both roots again."""
    os.chdir(above)
    os.chroot(".")
    os.close(above)


def _hide_packages(bases: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Cover the folders of installed packages below these, but for those that are wanted whole."""
    hidden: list[str] = []
    for base in bases:
        for lib in ("lib", "lib64"):
            for folder in _package_folders(base + "/" + lib):
                place = os.path.realpath(folder)
                seen = os.path.isdir(ROOT + place) and place not in hidden
                if seen and not _inside(place, wanted):
                    flags = linux.MS_NOSUID | linux.MS_NODEV
                    linux.mount("rlenv", ROOT + place, "tmpfs", flags, "size=1m,mode=755")
                    hidden.append(place)
    return hidden


def _package_folders(lib: str) -> Iterable[str]:
    try:
        names = [name for name in os.listdir(lib) if name.startswith("python3")]
    except OSError:
        return
    for name in names:
        for kind in ("site-packages", "dist-packages"):
            folder = lib + "/" + name + "/" + kind
            if os.path.isdir(folder):
                yield folder


def private(root: str, options: str, names: Sequence[str], *, executable: bool) -> None:
    """Give the root at ``root`` a /tmp with nothing but ``names``, which are all that the root
    shows there.

    What is shown below /tmp is bound again, read-only, by its first name: a mount point can be
    neither renamed nor removed, so no program can move what the next one needs.  It is found from
    the working directory, since its absolute path leads to the new file system once that covers it.
    """
    place = root + HOME
    if not names:
        mount_memory(place, options, executable=executable)
        return
    os.chdir(place)
    mount_memory(place, options, executable=executable)
    for name in names:
        _show_at(place + "/" + name, name, READ_ONLY)
    os.chdir("/")


def mount_memory(place: str, options: str, *, executable: bool) -> None:
    """Mount an empty file system in memory."""
    flags = linux.MS_NOSUID | linux.MS_NODEV | _NOATIME | (0 if executable else linux.MS_NOEXEC)
    linux.mount("tmp", place, "tmpfs", flags, options)


def _system(path: str) -> None:
    if os.path.islink(path):
        os.symlink(os.readlink(path), ROOT + path)
    elif os.path.isdir(path):
        _show(path, READ_ONLY)


def _inside(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def _show(path: str, attributes: int) -> None:
    """Bind ``path`` at its own place below the new root; its parents there are ours."""
    target = ROOT + path
    if not (os.path.lexists(target) and os.path.ismount(target)):
        _show_at(target, path, attributes)


def _show_at(target: str, path: str, attributes: int) -> None:
    if os.path.isdir(path):
        os.makedirs(target, 0o755, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    linux.bind(path, target, attributes)
