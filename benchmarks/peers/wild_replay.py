"""Reproduces findings without the audit: ``python wild_replay.py < CASES``.

Prints one JSON line of rewards for each. The first line says what is asked:
{"kind": "gym" | "function" | "rubric", "name", "size", "seed"}; each other line is a case:
{"task": row or index, "response", "times", "patience"}.  What is asked is loaded once; each case
runs in a fork of that process, so that none sees what another left behind.
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import sys

HOST = "response-was-run.invalid"
CALLS = ("socket.getaddrinfo",)


def gym(asked):
    import reasoning_gym

    dataset = reasoning_gym.create_dataset(asked["name"], size=asked["size"], seed=asked["seed"])
    return lambda index, response: dataset.score_answer(
        answer=response.strip(), entry=dataset[index]
    )


def function(asked):
    import inspect

    import wild_rewards

    reward = getattr(wild_rewards, asked["name"])
    parameters = inspect.signature(reward).parameters.values()
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters)
    names = [one.name for one in parameters]

    def ask(row, response):
        given = {**row, "response": response, "completion": said(response)}
        return reward(**{name: given[name] for name in given if takes_any or name in names})

    return ask


def said(response):
    return [{"role": "assistant", "content": response}]


def rubric(asked):
    import wild_rewards

    made = getattr(wild_rewards, asked["name"])

    def ask(row, response):
        prompt = [{"role": "user", "content": row["prompt"]}]
        state = {
            "prompt": prompt,
            "completion": said(response),
            "answer": row["answer"],
            "info": {},
            "task": "replay",
        }
        asyncio.run(made.score_rollout(state))
        return state["reward"]

    return ask


def words(ask, case):
    found = []
    ran = []
    # A response of the audit may say this name; it is heard only where the response is run.
    sys.addaudithook(
        lambda event, given: ran.append(event) if event in CALLS and HOST in given else None
    )
    for _ in range(case["times"]):
        try:
            found.append(repr(float(ask(case["task"], case["response"]))))
        except BaseException as error:
            found.append(f"{type(error).__name__}: {error}"[:200])
    return found + ["the response was run"] * bool(ran)


def apart(ask, case):
    """In a fork that is killed with all it started when it takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setpgid(0, 0)
        told = json.dumps(words(ask, case)).encode() + b"\n"
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(writing)
    told = b""
    until = case["patience"]
    while select.select([reading], [], [], until)[0]:
        more = os.read(reading, 1 << 16)
        if not more:
            break
        told += more
        if told.endswith(b"\n"):  # its own processes may hold the pipe open
            break
    else:
        told = b'["hang"]'
    os.close(reading)
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(told or b'["crash"]')


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is not an answer
    ask = {"gym": gym, "function": function, "rubric": rubric}
    asked = json.loads(sys.stdin.readline())
    reward = ask[asked["kind"]](asked)
    for line in sys.stdin:
        answers.write(json.dumps(apart(reward, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
