"""Chat templates as transformers reads them."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from jinja2 import Template, nodes
    from jinja2.ext import Extension
    from jinja2.parser import Parser


@cache
def _generation() -> type[Extension]:
    """Return the tag ``{% generation %}`` around what the model writes, which marks it for
    training; here it changes nothing.

    As the AssistantTracker of transformers (transformers/utils/chat_template_utils.py).
    """
    from jinja2.ext import Extension

    class Generation(Extension):
        tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

        def parse(self, parser: Parser) -> list[nodes.Node]:
            """Read the body of the tag."""
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    return Generation


def compile_template(template: str) -> Template:
    """Return a chat template, in an environment as transformers sets it up.

    Args:
        template: a text of Jinja.

    Raises:
        TemplateSyntaxError: it cannot be read.
    """
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols", _generation()],
    )
    made.filters["tojson"] = tojson
    made.globals |= {"raise_exception": _refuse, "strftime_now": _now}
    return made.from_string(template)


def tojson(value: object, **options: bool | int | tuple[str, str] | None) -> str:
    """Apply the filter ``tojson``, which keeps letters beyond ASCII.

    Args:
        value: of JSON.
        **options: of ``json.dumps``.
    """
    return json.dumps(value, **{"ensure_ascii": False, **options})  # type: ignore[arg-type] # of the template


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)
