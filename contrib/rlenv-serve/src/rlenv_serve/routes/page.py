"""The page, and what only it asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from msgspec.structs import asdict
from rlenv import Environment
from starlette.responses import Response

from rlenv_serve.catalog import stages
from rlenv_serve.http.keys import sees_private
from rlenv_serve.http.problems import not_found
from rlenv_serve.server.endpoint import Call, Endpoint

from .episodes import state_of

KINDS = {
    "index.html": "text/html",
    "page.css": "text/css",
    "page.js": "text/javascript",
    "views.js": "text/javascript",
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src"
        " data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
RECENT = 100  # episodes
CLAIMED = {"harness": "H", "state": "S", "config": "C"}


async def asset(call: Call) -> object:
    """The page itself, a script or a style of it."""
    name = call.path.get("name", "index.html")
    if name not in KINDS:
        raise not_found(f"there is no asset {name!r:.80}")
    body = files("rlenv_serve.routes").joinpath("static", name).read_bytes()
    return Response(body, headers=HEADERS, media_type=KINDS[name])


async def environments(call: Call) -> object:
    """Each environment with its parts: tasks (T), harness (H), verifier (V), state (S) and
    configuration (C).  All but T are the operator's.
    """
    private = sees_private(call.tenant)
    rows = [
        {
            "name": each.name,
            "fingerprint": each.env.fingerprint,
            "parts": _parts(each.env, private=private),
        }
        for each in call.server.catalog.values()
    ]
    return {"environments": rows}


async def episodes(call: Call) -> object:
    """The newest episodes of this tenant, or of all for an operator."""
    tenant = call.tenant
    admission = call.server.sessions.admission
    found = await call.server.journal.recent(None if tenant.operator else tenant.name, RECENT)
    rows = [
        {
            **asdict(state_of(each, admission)),
            "environment": each.begun.environment,
            "agent_id": each.begun.agent,
            "began": each.begun.created,
        }
        for each in found
    ]
    return {"episodes": rows}


def _parts(env: Environment, *, private: bool) -> dict[str, str]:
    splits = Counter(task.split for task in env.tasks)
    told = {"T": ", ".join(f"{split}: {n:,}" for split, n in splits.items()) or "no tasks"}
    if not private:
        return told
    told |= {"H": "single-turn", "V": "\n".join(stages(env.slots)), "S": "none", "C": ""}
    for name, table in env.tables.items():
        show = getattr(table, "show", None)
        text = str(show() if callable(show) else table)
        told[CLAIMED.get(name, name)] = text.removeprefix(f"{CLAIMED.get(name, name)}  ")
    told["C"] = f"pass mark {env.pass_mark:g}, thinking {env.thinking}\n{told['C']}".strip()
    return told


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        "GET", "/", asset, "The page for people", public=True, tag="page", media=("text/html",)
    ),
    Endpoint(
        "GET",
        "/assets/{name}",
        asset,
        "Scripts and styles of the page",
        public=True,
        tag="page",
        errors=(404,),
        media=(*sorted({*KINDS.values()}),),
    ),
    Endpoint("GET", "/environments", environments, "Each environment with its parts", tag="page"),
    Endpoint("GET", "/episodes", episodes, "The newest episodes", tag="page"),
)
