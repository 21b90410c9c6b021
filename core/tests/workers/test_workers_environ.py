"""Workers of functions see an allow list of variables, and a function that lacks one is told its
name.
"""

import os

import pytest
from rlenv import Environment, Task, stage
from rlenv.workers.environ import is_hidden, is_visible, visible_env

TASK = Task("say something", id="t")
SEEN = [
    "PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP",
    "PYTHONHASHSEED", "PYTHONWARNINGS", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME", "NVIDIA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS", "SSL_CERT_FILE", "SSL_CERT_DIR", "HF_HOME", "RLENV_SANDBOX_SLOTS",
]  # fmt: skip
HIDDEN = [
    "OPENAI_API_KEY", "OPENAI_API_KEYS", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL", "GITHUB_PAT", "HF_TOKEN", "HF_TOKEN_2", "PGPASSFILE", "PGPASSWORD", "MYSQL_PWD",
    "SLACK_WEBHOOK_URL", "GOOGLE_APPLICATION_CREDENTIALS", "SSH_PASSPHRASE", "SSH_AUTH_SOCK",
    "HTTPS_PROXY", "http_proxy", "ALL_PROXY", "PIP_INDEX_URL", "RLENV_SECRET",
    "RLENV_SANDBOX_TOKEN", "PYTHON_KEYRING_PASSWORD", "CUDA_TOKEN", "db_password", "anything",
]  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
def test_what_python_and_numerics_need_is_seen(name):
    assert is_visible(name)


@pytest.mark.parametrize("name", HIDDEN)
def test_whatever_else_there_is_is_hidden_unless_it_is_listed(name, monkeypatch):
    monkeypatch.setenv(name, "value")
    assert is_hidden(name)
    assert name not in visible_env(())
    assert visible_env((name,))[name] == "value"
    assert visible_env(None)[name] == "value"


@pytest.fixture
def reads(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_URL", "value")

    def reads(response):
        return float(os.environ["MY_SERVICE_URL"] == "value")

    return reads


def test_a_variable_that_is_hidden_is_named_with_the_remedy_and_the_line(reads):
    with Environment("e", reads) as env:
        fault = env.evaluate(TASK, "x").results[0].fault
    line = reads.__code__.co_firstlineno + 1
    assert fault.kind == "error"
    assert 'declare env = ["MY_SERVICE_URL"] on the function' in fault.message
    assert f"test_workers_environ.py:{line})" in fault.message


def test_the_remedy_works(reads):
    with Environment("e", stage(env=["MY_SERVICE_URL"])(reads)) as env:
        assert env.verify(TASK, "x") == 1.0


def test_another_key_that_is_missing_is_no_variable():
    def looks(response):
        return {"a": 1.0}[response]

    with Environment("e", stage(where="inline")(looks)) as env:
        assert "KeyError: 'x'" in env.evaluate(TASK, "x").results[0].fault.message
