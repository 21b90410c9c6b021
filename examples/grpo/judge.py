"""Run a command next to a scripted judge: an HTTP server with OpenAI's protocol, and rules instead
of a model.

python examples/grpo/judge.py [--seconds S] COMMAND...

The command finds the server in RLENV_JUDGE_URL.  ``--seconds`` is how long each answer takes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys

import click
from aiohttp import web
from rlenv import VerifierFault
from rlenv_plugin_judge.scripted import Scripted
from rlenv_plugin_judge.transport.request import Request

ONE_DIGIT = "The response is one digit."
SAME_DIGIT = "The response repeats the digit of the task."


def holds(statement: str, task: str, response: str) -> bool:
    """Whether a statement of ``evolving.toml``, or the one that this judge proposes, holds."""
    if statement == ONE_DIGIT:
        return re.fullmatch("[0-9]", response) is not None
    return statement == SAME_DIGIT and response == "".join(re.findall("[0-9]", task)[:1])


def ruled(question: str) -> dict[str, object] | None:
    """What this judge says of statements, or proposes; None where it is asked something else."""
    found = re.findall(r"^BEGIN ([^\n]*) (\w+)\n(.*?)\nEND \1 \2$", question, re.M | re.S)
    material = {name: text for name, _, text in found}
    if '"positive": <list' in question:
        return {"positive": [SAME_DIGIT], "negative": []}
    said = re.findall(r"^(s\d+): (.*)$", question.partition("BEGIN ")[0], re.M)
    task = material.get("task", "")
    response = material.get("response", "")
    return {name: holds(text, task, response) for name, text in said} if said else None


async def answered(messages: list[dict[str, str]]) -> str:
    """The reply to a question of one of rlenv's judges."""
    question = messages[-1]["content"]
    values = ruled(question)
    if values is None:  # the plugin's own scripted judge compares with a reference
        return (await Scripted().send(Request("", messages))).text
    nonce = re.findall(r'"nonce": "(\w+)"', question)[-1]
    return json.dumps({"nonce": nonce, **values, "reason": "By rule."})


async def chat(request: web.Request) -> web.Response:
    """``POST /v1/chat/completions``."""
    await asyncio.sleep(request.app["seconds"])
    try:
        text = await answered((await request.json())["messages"])
    except (VerifierFault, ValueError, LookupError, TypeError) as error:
        return web.json_response({"error": {"message": str(error)}}, status=400)
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return web.json_response({"object": "chat.completion", "choices": [choice]})


async def run(command: tuple[str, ...], seconds: float) -> int:
    """The exit status of the command."""
    app = web.Application()
    app["seconds"] = seconds
    app.router.add_post("/v1/chat/completions", chat)
    server = web.AppRunner(app, access_log=None)
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{server.addresses[0][1]}/v1"
    env = {**os.environ, "RLENV_JUDGE_URL": url, "RLENV_JUDGE_MODEL": "scripted"}
    process = await asyncio.create_subprocess_exec(*command, env=env)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, process.terminate)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await server.cleanup()


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--seconds", default=0.0, help="How long each answer takes.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def main(command: tuple[str, ...], seconds: float) -> None:
    """Run COMMAND next to a scripted judge."""
    sys.exit(asyncio.run(run(command, seconds)))


if __name__ == "__main__":
    main()
