"""The page at ``/`` in a real browser, with a key, a keyboard and a narrow screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, started
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from serving import Client, catalog_of, episode, owned, running, served, single, sums

NASTY = "<img src=x onerror='window.hit=1'><script>window.hit=1</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = started(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


def visit(page: Browser, ask: Client, fragment: str = "#/") -> None:
    page.events.clear()
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=f"{ask.url}/{fragment}")
    page.until(f"document.documentElement?.dataset.ready === {json.dumps(fragment)}")


def play(ask: Client, answer: str) -> str:
    id_ = episode(ask)
    ask("POST", f"/episodes/{id_}/steps", {"action": "add", "a": 3, "b": 3})
    ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": answer})
    return id_


def asked_elsewhere(page: Browser, ask: Client) -> list[str]:
    bad, asked = page.complaints()
    assert bad == []
    return [url for url in asked if not url.startswith((ask.url, "data:"))]


@pytest.fixture
def owner() -> Iterator[Client]:
    """A server without keys, of which everyone is the operator."""
    with catalog_of(sums(), single()) as catalog, running(owned(catalog)) as client:
        yield client


def test_it_shows_environments_episodes_and_two_trajectories_beside_each_other(
    page: Browser, owner: Client
) -> None:
    ask = owner
    first = play(ask, "6")
    second = play(ask, NASTY)
    open_ = episode(ask)
    visit(page, ask)

    assert "tool-use, at most 20 turns, 1 tool" in page.text("main")
    assert open_[:8] in page.text("main")
    for id_ in (first, second):
        page.click(f'input[value="{id_}"]')
    page.until("!document.querySelector('form.compare button').disabled")
    page.click("form.compare button")
    page.until("document.documentElement?.dataset.ready?.startsWith('#/compare')")
    assert len(page.texts(".message.differs")) == 2
    page.click(".columns h2 a")
    page.until("document.documentElement?.dataset.ready?.startsWith('#/trajectories')")
    told = page.text("main")
    assert "sampled by the policy (mask 1)" in told
    assert 'add({"a": 3, "b": 3})' in told
    visit(page, ask, f"#/trajectories/{second}")
    assert NASTY in page.text("main")
    assert page.eval("window.hit === undefined")
    assert asked_elsewhere(page, ask) == []


def test_a_server_with_keys_asks_for_one(page: Browser, tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)
    with running(Server(served(sums()), keys=Keys.from_file(tmp_path / "keys.toml"))) as ask:
        play(Client(ask.port, {"X-API-Key": key}), "6")
        visit(page, ask)
        assert "X-API-Key" in page.text("[role=alert]")
        page.eval("document.querySelector('#key input').focus()")
        page.type(key)
        page.press("Enter", text="\r")
        page.until("document.querySelector('main table') !== null")

        assert "tool-use" not in page.text("main")  # the harness is the operator's
        assert page.text("main .pass") == "1"


def test_it_works_by_keyboard_and_on_a_narrow_screen(page: Browser, tmp_path: Path) -> None:
    with running(Server(served(sums(), single()))) as ask:
        id_ = play(ask, "6")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=360,
            height=700,
            deviceScaleFactor=1,
            mobile=True,
        )
        try:
            visit(page, ask)
            assert page.eval("document.documentElement.scrollWidth") <= 360
            page.eval(f"document.querySelector('a[href=\"#/trajectories/{id_}\"]').focus()")
            page.press("Enter", text="\r")
            page.until(f"document.documentElement?.dataset.ready === '#/trajectories/{id_}'")
            assert page.eval("document.documentElement.scrollWidth") <= 360
            page.screenshot(tmp_path / "narrow.png")
        finally:
            page.call("Emulation.clearDeviceMetricsOverride")


def test_the_page_loads_nothing_from_elsewhere_and_may_not(ask: Client) -> None:
    index = ask("GET", "/")

    assert "default-src 'none'" in index.headers["content-security-policy"]
    assert b"http" not in index.body
    assert ask("GET", "/assets/page.js").headers["content-type"].startswith("text/javascript")
    for path in ("/assets/nothing.js", "/assets/..%2froutes.py", "/assets/__init__.py"):
        assert ask("GET", path).status == 404
