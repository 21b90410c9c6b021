"""A headless Chromium that is driven over a pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--disable-extensions", "--disable-default-apps", "--mute-audio",
    "--remote-debugging-pipe", "--window-size=1280,1000",
)  # fmt: skip
SECONDS = 60


class Ended(Exception):
    """The browser is gone."""


class Browser:
    """One Chromium, spoken to in the DevTools protocol: NUL-ended JSON on the file descriptors 3
    and 4.
    """

    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_read, from_write)]
        quiet = os.open(os.devnull, os.O_RDWR)
        actions = [
            (os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4),
            *((os.POSIX_SPAWN_DUP2, quiet, fd) for fd in (0, 1, 2)),
        ]  # fmt: skip
        argv = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        home = {
            "HOME": str(profile),
            "XDG_CONFIG_HOME": str(profile),
            "XDG_CACHE_HOME": str(profile),
        }
        self._pid = os.posix_spawn(
            program, argv, {**os.environ, **home}, file_actions=actions, setpgroup=0
        )
        for fd in (to_read, from_write, quiet, *high):
            os.close(fd)
        self._number = 0
        self._left = b""
        self.events: list[dict[str, Any]] = []
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send one command and wait for its answer; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        parts = [self._left]
        while b"\0" not in parts[-1]:
            data = os.read(self._from, 1 << 20)
            if not data:
                raise Ended("the browser has ended")
            parts.append(data)
        whole, _, self._left = b"".join(parts).partition(b"\0")
        return dict(json.loads(whole))

    def eval(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""
        found = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> Any:
        """Wait until an expression is true; its value."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if value := self.eval(expression):
                return value
            time.sleep(0.03)
        raise AssertionError(
            f"never true: {expression}\n{self.eval('document.body.innerText')[:2000]}"
        )

    def open(self, path: str | Path, fragment: str = "") -> None:
        """Load a file and wait for its rows."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=Path(path).resolve().as_uri() + fragment)
        self.until(
            "location.protocol === 'file:' && document.readyState === 'complete' &&"
            " (document.documentElement.dataset.ready || document.querySelector('[role=alert]')) ?"
            " 1 : 0"
        )

    def click(self, selector: str) -> None:
        """A real click in the middle of the first element that the selector finds."""
        x, y = self.eval(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return"
            " [r.left + r.width / 2, r.top + Math.min(r.height / 2, 12)]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, code: str | None = None, text: str | None = None) -> None:
        more = {"text": text} if text else {}
        codes = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "End": 35, "Home": 36}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code or key,
                windowsVirtualKeyCode=codes.get(key, 0),
                **(more if kind == "keyDown" else {}),
            )

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def text(self, selector: str = "body") -> Any:
        return self.eval(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def texts(self, selector: str) -> Any:
        """The texts of all elements that the selector finds, in the order of the screen."""
        return self.eval(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((e) =>"
            " [e.getBoundingClientRect().top, e.innerText]).sort((a, b) => a[0] - b[0]).map((pair)"
            " => pair[1])"
        )

    def complaints(self) -> tuple[list[dict[str, Any]], list[str]]:
        """What went wrong in the page: exceptions, console errors, refused or attempted
        requests.
        """
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded"}
        bad = [e for e in self.events if e.get("method") in kinds]
        asked = [
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]
        return bad, [url for url in asked if not url.startswith(("file:", "about:"))]

    def screenshot(self, path: str | Path, *, whole: bool = False) -> None:
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        os.close(self._to)
        end = time.monotonic() + 10
        while time.monotonic() < end and os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            time.sleep(0.02)
        try:
            os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self._from)


def started(folder: Path) -> Browser:
    """A browser; skips the test where none is installed.

    Args:
        folder: for its profile.
    """
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip(
            "no chromium on this machine: install the package chromium to run the browser tests"
        )
    try:
        return Browser(program, folder)
    except (OSError, Ended) as error:
        pytest.skip(f"{program} is installed but does not start: {error}")
