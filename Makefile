# `make run` scores the built-in data, `make test` checks everything; both set up .venv first.
PYTHON ?= python3
VENV ?= .venv
OUT ?= out
# A third of the time of most tests is waiting, for a deadline or another process, so there are more of them than cores.
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 )))
VERDICTS ?= 1000000
# Environments of requirements/trainers/environments.toml; all if none is named.
TRAINERS ?=

BIN := $(VENV)/bin
# Each process takes tests that lie together, so that few of them pay for the start of SymPy or numba; one that has
# no more takes some of another's.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
INSTALL := $(PIP) install --quiet --no-build-isolation --no-compile -c requirements/constraints.txt
PROJECTS := $(wildcard core/pyproject.toml plugins/*/pyproject.toml contrib/*/pyproject.toml)
PINS := requirements/build.txt requirements/constraints.txt
EXAMPLE := examples/everyday

# Bytecode is kept in $(VENV): a worker that compiles SymPy anew needs ten seconds to start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-changed test-full test-trainers conformance soak ruff lint sizes bench mutants audit-zoo audit-wild clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:
	@echo "make run    score the built-in responses (examples/): progress, summary, $(OUT)/"
	@echo "make test   ruff, mypy --strict and the tests, but those that are slow; PKG=math for one distribution and the rules of the repository, without mypy"
	@echo "make test-changed  the same for the distributions whose files differ from main, committed or not"
	@echo "make test-full  what make test leaves out: slow tests, whole corpora in containers, more examples of each law, a policy that learns"
	@echo "make test-trainers  rlenv in each trainer, in an environment of its own below build/ (ten minutes at first; TRAINERS=trl)"
	@echo "make conformance  what each trainer makes of a response without a score, into docs/reference/conformance.md"
	@echo "make soak   a million verdicts, 10,000 verifications with catastrophes, and 1,000 episodes of a server at once: all right, nothing grows (half an hour; VERDICTS=1000000)"
	@echo "make lint   ruff and mypy --strict only"
	@echo "make sizes  files, code lines, tokens and functions of each distribution; PKG=math for the rooms of one"
	@echo "make bench  ratios against python itself and against peers"
	@echo "make mutants  see whether the tests notice changes to the code that decides (half an hour; ONLY=math, ONLY=tolerance)"
	@echo "make audit-zoo  audit every verifier of the zoo: holes that must be found, and sound ones (ten minutes)"
	@echo "make audit-wild  audit public verifiers that RLENV_PEERS names, into build/wild (half an hour; see benchmarks/README.md)"
	@echo "make clean  remove what make made, $(VENV) included"
	@echo "Variables: PYTHON=python3.12  VENV=.venv  OUT=out  JOBS=$(JOBS) (test processes)"

run: $(VENV)/.run
	@mkdir -p $(OUT)
	$(BIN)/rlenv score $(EXAMPLE)/env.toml $(EXAMPLE)/responses.jsonl -o $(OUT)/scores.jsonl --overwrite

# A part runs without mypy, which needs a minute when nothing is in its cache.
PART := $(BIN)/python tests/helpers/partial_tests.py
IN_PARALLEL := --pytest -n $(JOBS) --dist worksteal

ifdef PKG
test: ruff
	@$(PART) "$(PKG)" $(IN_PARALLEL)
else
test: lint
	$(PYTEST) -m "not slow"
endif

test-changed: ruff
	@$(PART) --changed $(IN_PARALLEL)

# Endless programs, and processes that only spin, take every core from other tests: they run after the rest.
ENDLESS := tests/test_unscored.py
SPINNING := plugins/rlenv-plugin-code/tests/test_code_load.py

test-full: $(VENV)/.dev
	RLENV_ATTACKS_EVERYWHERE=1 $(PYTEST) -m "slow or hypothesis" --hypothesis-profile=full $(addprefix --ignore=,$(ENDLESS) $(SPINNING))
	@$(MAKE) --no-print-directory test-trainers TRAINERS="gymnasium ray"
	@$(IN_TRAINERS) install trl
	HF_HUB_OFFLINE=1 build/trainers/trl/bin/python -m pytest -q -W ignore "$(LEARNING)::test_the_copy_task_is_learned[0]"
	$(PYTEST) -m slow $(ENDLESS)
	$(BIN)/python -m pytest -m slow $(SPINNING)

LEARNING := contrib/rlenv-train/tests/trainers/test_with_trl_learning.py
IN_TRAINERS := $(BIN)/python tests/helpers/trainers.py

# A trainer pins what others pin differently, so each has an environment of its own.
test-trainers: $(VENV)/.venv
	@$(IN_TRAINERS) test $(TRAINERS)

conformance: $(VENV)/.dev
	@$(IN_TRAINERS) conformance $(TRAINERS)
	$(BIN)/python docs/generate.py

soak: $(VENV)/.dev
	$(BIN)/python benchmarks/soak.py $(VERDICTS)
	$(BIN)/python benchmarks/forks.py
	$(BIN)/python benchmarks/serve_soak.py

ruff: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: ruff
	$(BIN)/mypy --num-workers 2

sizes:
	@$(PYTHON) benchmarks/sizes.py $(PKG)

bench: $(VENV)/.dev
	@for name in core loop math_answers code_programs constraints judge cuda agent agent_state serve; do echo "== benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py || exit 1; done

# Mutmut has a separate environment, so that no test of the repository depends on it.
mutants: $(VENV)-mutants/.mutants
	$(VENV)-mutants/bin/python benchmarks/mutants.py $(ONLY)

audit-zoo: $(VENV)/.dev
	RLENV_ZOO=all $(BIN)/python -m pytest -n $(JOBS) contrib/rlenv-auditor/tests/test_audit_zoo.py

audit-wild: $(VENV)/.dev
	$(BIN)/python benchmarks/audit_wild.py

clean:
	rm -rf $(VENV) $(VENV)-mutants build/mutants build/trainers build/wild $(OUT) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "rlenv needs Python 3.11 or newer, and \`$(PYTHON)\` is not: try \`make PYTHON=python3.12 ...\`" >&2; exit 1; }
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "could not make $(VENV), for the reason above: Python's venv module is missing or incomplete (Debian, Ubuntu: the package" >&2; \
	  echo "python3-venv), or the path holds a colon, which no environment may (take another: \`make VENV=/other/place ...\`)" >&2; exit 1; }
	@touch $@

$(VENV)/.build: $(VENV)/.venv $(PINS)
	@$(PIP) install --quiet --no-compile -r requirements/build.txt -c requirements/constraints.txt
	@touch $@

$(VENV)/.run: $(VENV)/.build requirements/run.txt $(PROJECTS)
	@echo "installing rlenv and its plugins (half a minute)"
	@$(INSTALL) -r requirements/run.txt
	@touch $@

# Its packages are more than those of `run`, so that stamp is made too.
$(VENV)/.dev: $(VENV)/.build requirements/dev.txt requirements/run.txt $(PROJECTS)
	@echo "installing rlenv, its plugins and the tools that check them (a minute)"
	@$(INSTALL) -r requirements/dev.txt
	@touch $(VENV)/.run $@

$(VENV)-mutants/.mutants: requirements/mutants.txt requirements/dev.txt $(PINS) $(PROJECTS)
	@$(MAKE) --no-print-directory VENV=$(VENV)-mutants $(VENV)-mutants/.dev
	@$(VENV)-mutants/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-compile -c requirements/constraints.txt \
	  -r requirements/mutants.txt
	@touch $@
