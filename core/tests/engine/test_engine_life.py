"""Secrets, fingerprints, observers, forks and ends: what surrounds a verdict."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import attrs
import pytest
from engine_stages import Count, Obeys, Split, Tame
from rlenv import (
    AllOf,
    Attempt,
    ConfigError,
    Environment,
    Outcome,
    Slot,
    Task,
    hookimpl,
    stage,
)
from rlenv.identity import fingerprint, secret

TASK = Task("Say yes", answer="yes", id="t")


@pytest.fixture
def own_secret(monkeypatch, tmp_path):
    monkeypatch.delenv("RLENV_SECRET", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(secret, "_from_file", cache(secret._from_file.__wrapped__))
    return tmp_path / "rlenv" / "secret"


def test_the_secret_is_made_once_for_its_user_alone(own_secret, monkeypatch):
    first = secret.secret()
    monkeypatch.setattr(secret, "_from_file", cache(secret._from_file.__wrapped__))

    assert secret.secret() == first == own_secret.read_bytes()
    assert len(first) == 32
    assert own_secret.stat().st_mode & 0o777 == 0o600


def test_many_processes_at_once_agree_on_the_secret(own_secret):
    code = "from rlenv.identity import secret; print(secret.secret().hex())"

    def ask(_):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1
    assert os.listdir(own_secret.parent) == ["secret"]


def test_a_short_secret_file_is_refused(own_secret):
    own_secret.parent.mkdir()
    own_secret.write_bytes(b"guess me")

    with pytest.raises(ConfigError, match="shorter than 32 bytes"):
        secret.secret()


def test_a_state_folder_that_cannot_be_is_named_with_the_remedy(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("RLENV_SECRET", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(secret, "_from_file", cache(secret._from_file.__wrapped__))

    with pytest.raises(ConfigError, match="set RLENV_SECRET"):
        secret.secret()
    monkeypatch.setattr(secret, "_from_file", cache(secret._from_file.__wrapped__))


def test_keys_depend_on_secret_task_and_response_and_on_nothing_else(monkeypatch):
    def key(task, response):
        return Attempt(task, response).key()

    monkeypatch.setenv("RLENV_SECRET", "one")
    first = key(TASK, "yes")
    assert key(attrs.evolve(TASK, answer="no"), "yes") == first
    others = {key(TASK, "no"), key(attrs.evolve(TASK, id="u"), "yes"), key(TASK, "yes\ud800")}
    assert len({first, *others}) == 4
    monkeypatch.setenv("RLENV_SECRET", "two")
    assert key(TASK, "yes") != first


def test_the_fingerprint_names_the_configuration_and_stands_still():
    def made(weight=1.0, mark=1.0, where="inline"):
        return Environment("e", [Slot("s", Split(where), weight)], pass_mark=mark).fingerprint

    assert made() == made()
    assert len({made(), made(2.0), made(1.0, 0.5), made(where="worker")}) == 4


def test_the_fingerprint_names_the_code_of_composites(monkeypatch):
    read = []
    monkeypatch.setattr(fingerprint, "content_of", read.append)

    def made(module):
        kind = type("Mine", (AllOf,), {"__module__": module})
        return Environment("e", [Slot("both", kind([Slot("s", Split("inline"))]))]).fingerprint

    assert made("one.composites") != made("other.composites")
    assert {"one", "other"} <= set(read)


def test_the_fingerprint_is_the_same_in_every_process(monkeypatch):
    monkeypatch.setenv("RLENV_SECRET", "one")
    code = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from engine_stages import Split\n"
        "from rlenv import Environment, Slot\n"
        "print(Environment('e', [Slot('s', Split('inline'))]).fingerprint)"
    )
    helpers = os.path.dirname(sys.modules["engine_stages"].__file__)
    seen = set()
    for seed, cwd, zone in (("0", "/", "UTC"), ("1", helpers, "Asia/Tokyo")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        done = subprocess.run(
            [sys.executable, "-c", code, helpers], env=env, cwd=cwd, capture_output=True, check=True
        )
        seen.add(done.stdout)

    assert len(seen) == 1


class Watcher:
    def __init__(self):
        self.seen = []

    @hookimpl
    def rlenv_stage_finished(self, env, result):
        self.seen.append((env.name, result.stage))

    @hookimpl
    def rlenv_verdict(self, task, response, verdict):
        self.seen.append((task.id, response, verdict.value))


class Clumsy:
    @hookimpl
    def rlenv_verdict(self, verdict):
        raise RuntimeError("an observer that breaks")


def test_observers_see_every_stage_and_verdict_and_a_broken_one_changes_nothing(caplog):
    watcher = Watcher()
    slots = [Slot("split", Split("inline"), gate=1), Slot("count", Count("inline"))]
    env = Environment("w", slots, [TASK], observers=[Clumsy(), watcher])

    assert env.verify(TASK, "yes") == 1.0
    assert next(env.evaluate_many([(TASK, "yes")])).value == 1.0
    assert env.evaluate_group(TASK, ["yes"])[0].value == 1.0
    assert watcher.seen == [("w", "split"), ("w", "count"), ("t", "yes", 1.0)] * 3
    assert "an observer of w raised" in caplog.text


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_workers_of_its_own():
    with Environment("o", [Slot("s", Obeys())]) as env:
        assert env.verify(TASK, "right") == 1.0
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                said = f"{env.verify(TASK, 'right')} {env.verify(TASK, 'wrong')}"
                env.close()
            except BaseException as err:
                said = repr(err)
            os.write(writer, said.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            assert file.read() == "1.0 0.0"
        os.waitpid(pid, 0)
        assert env.verify(TASK, "right") == 1.0


def test_closing_twice_is_fine_and_a_closed_environment_can_be_used_again():
    env = Environment("o", [Slot("s", Obeys())])
    assert env.verify(TASK, "right") == 1.0
    env.close()
    env.close()
    assert env.verify(TASK, "wrong") == 0.0
    env.close()


def test_a_batch_is_lazy_and_may_be_left_early():
    drawn = []

    def pairs():
        for i in range(10**9):
            drawn.append(i)
            yield TASK, "right"

    with Environment("o", [Slot("s", Obeys())]) as env:
        verdicts = env.evaluate_many(pairs(), workers=1)
        assert next(verdicts).value == 1.0
        verdicts.close()
        assert env.verify(TASK, "right") == 1.0

    assert len(drawn) < 10**6


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="no affinity of CPUs on this system"
)
def test_an_environment_has_a_worker_for_each_cpu_that_the_process_may_use():
    code = (
        "import os; from rlenv import Environment, Task; from rlenv.workers import usable_cpus\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "with Environment('o', lambda response: 1.0) as env:\n"
        "    env.verify(Task('q'), 'r'); [pool] = env._workers.pools.values()\n"
        "    print(pool.size, usable_cpus())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout == "1 1\n"


def test_workers_must_be_a_positive_number():
    env = Environment("t", [Slot("s", Tame())])
    for wrong in (0, -1, True):
        with pytest.raises(ConfigError, match="workers is an integer"):
            env.evaluate_many([], workers=wrong)


def test_a_batch_answers_before_its_source_ends():
    """Live rollouts come slowly: the first verdict must not wait for the last response."""
    answered = []

    def pairs():
        for i in range(12):
            yield TASK, "right"
            if i < 11:
                yield TASK, 7
            if i == 10:
                assert answered, "nothing was scored while the source waited"

    with Environment("o", [Slot("s", Obeys())]) as env:
        env.verify(TASK, "right")
        for verdict in env.evaluate_many(slowly(pairs())):
            answered.append(verdict.value)

    assert answered == [1.0, None] * 11 + [1.0]


def slowly(pairs):
    for pair in pairs:
        time.sleep(0.15)
        yield pair


@attrs.frozen
class MakesAHandle:
    phase = "parse"
    where = "inline"
    makes = (type(os.popen),)

    def check(self, attempt):
        attempt.put(lambda: None)
        return Outcome.passed()


@attrs.frozen
class WantsAHandle(Obeys):
    needs = (type(os.popen),)


@attrs.frozen
class Handle:
    what: object


@attrs.frozen
class MakesAnAttrsHandle:
    phase = "parse"
    where: str
    makes = (Handle,)

    def check(self, attempt):
        attempt.put(Handle(lambda: None))
        return Outcome.passed()


@attrs.frozen
class WantsAnAttrsHandle(Obeys):
    needs = (Handle,)


class Plain:
    """Not an attrs class."""


@pytest.mark.parametrize("name", ["needs", "takes", "makes"])
def test_a_kind_that_no_stage_would_receive_is_a_mistake_where_the_stage_is_made(name):
    held = type("Held", (Obeys,), {name: (Handle, Plain)})
    with pytest.raises(ConfigError, match=f"{name} has Plain, which is not an attrs class.*frozen"):
        Environment("o", held())
    with pytest.raises(ConfigError, match="Plain"):
        stage(**{name: (Plain,)})


def test_makers_of_what_cannot_travel_are_mistakes():
    with pytest.raises(ConfigError, match="is not an attrs class"):
        Environment("o", [Slot("makes", MakesAHandle()), Slot("wants", WantsAHandle())])


@pytest.mark.parametrize(
    ("maker", "wants", "said"),
    [
        (MakesAnAttrsHandle("inline"), WantsAnAttrsHandle(), "cannot be sent on"),
        (MakesAnAttrsHandle("worker"), WantsAnAttrsHandle(), "cannot be sent on"),
    ],
)
def test_an_artifact_that_cannot_travel_is_a_fault(maker, wants, said):
    with Environment("o", [Slot("makes", maker), Slot("wants", wants)]) as env:
        verdicts = [env.evaluate(TASK, "right"), *env.evaluate_many([(TASK, "right")])]

    for verdict in verdicts:
        assert verdict.fault.kind == "contract"
        assert said in verdict.fault.message
