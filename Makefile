# Each target is one command on a fresh machine with make and Python 3.11 to 3.14; a second call installs nothing.
# Options go into ARGS: make demo ARGS=--exit, make run ARGS="--port 3001", make test ARGS=tests/rules.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Not all of the modules are ever imported; those that are get compiled then.
INSTALL := $(PIP) install --no-compile -c constraints.txt -e .
SUITABLE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$python -I -c '$(SUITABLE)' 2>/dev/null; then echo $$python; break; fi; done)
# Six at a time, also on two cores: much of their time goes by in waiting. With more, slow machines starve what they test.
# In order: the long ones of one test each are not left for the end.
PYTEST_ARGS ?= -q -n 6 --dist loadfile --no-loadscope-reorder
ARGS ?=
FUZZ_EXAMPLES ?= 2000
# What a user's own settings of pip and Python say is meant for other programs: these would keep ours from working.
export PIP_USER := 0
unexport PIP_TARGET PIP_PREFIX PIP_ROOT PIP_DRY_RUN PIP_NO_DEPS
unexport PYTHONHOME PYTHONPATH PYTHONSAFEPATH PYTHONOPTIMIZE PYTHONWARNINGS
# Many processes are started here, by tests above all: each would compile what it imports anew.
unexport PYTHONDONTWRITEBYTECODE
# What the tests read and write is UTF-8, whatever the encoding of the machine's language is.
test test-long fuzz: export PYTHONUTF8 := 1
SEED ?= $(shell date +%s)

# What is installed is of no use once the folder has been moved or copied, or the system has another Python.
HERE := import battlebot, pathlib, sys; sys.exit(not pathlib.Path(battlebot.__file__).parents[1].samefile("."))
ifneq ($(wildcard $(VENV)/run.stamp),)
ifneq ($(shell $(BIN)/python -I -c '$(HERE)' 2>/dev/null && echo yes),yes)
$(VENV)/run.stamp $(VENV)/dev.stamp $(BIN)/python: anew
endif
endif

.PHONY: anew help demo run test test-long chaos soak duel fuzz bench bench-quick lint stubs viewers upgrade clean

help:
	@echo "make demo   a server, six bots and a contest (ARGS=--exit: end after it)"
	@echo "make run    the server alone"
	@echo "make test   the tests (THOROUGH=10: ten times as many random contests)"
	@echo "make test-long  those that take much of a machine: the bench by itself, a rolling restart"
	@echo "make chaos  a server of nine parts, killed and paused for 20 minutes while bots play (ARGS=\"--seed 7\")"
	@echo "make duel   20 players of the TCP door who come and go for 10 minutes; then every board is looked for (ARGS=\"--minutes 2\")"
	@echo "make soak   contests for 30 minutes, memory and open files watched (ARGS=\"--minutes 5\")"
	@echo "make fuzz   the server's doors and its API fuzzed for long (SEED=, FUZZ_EXAMPLES=)"
	@echo "make bench  the benchmarks"
	@echo "make bench-quick  five of them, rougher, in two minutes"
	@echo "make lint   style, types, the Docker files"
	@echo "make stubs  what protoc makes of the .proto files"
	@echo "make viewers  the libraries of the pages' scripts, from npm; the results are committed"
	@echo "make upgrade  the newest versions of the dependencies; writes constraints.txt; run the tests afterwards"
	@echo "make clean  remove what these made, except for the server's data in .battlebot"

demo: $(VENV)/run.stamp
	@$(BIN)/battlebot demo $(ARGS)

run: $(VENV)/run.stamp
	@$(BIN)/battlebot serve $(ARGS)

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest $(PYTEST_ARGS) $(ARGS)

test-long: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -m long $(ARGS)

chaos: $(VENV)/dev.stamp
	@PYTHONPATH=$(CURDIR):$(CURDIR)/tests $(BIN)/python -m chaos $(ARGS)

duel: $(VENV)/dev.stamp
	@PYTHONPATH=$(CURDIR):$(CURDIR)/tests $(BIN)/python -m chaos.duel $(ARGS)

soak: $(VENV)/dev.stamp
	@PYTHONPATH=$(CURDIR):$(CURDIR)/tests $(BIN)/python -m chaos.soak $(ARGS)

fuzz: $(VENV)/dev.stamp
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -q --timeout=7200 --hypothesis-seed=$(SEED) tests/fuzz $(ARGS)

bench: $(VENV)/dev.stamp
	$(BIN)/python -m bench $(ARGS)

bench-quick: $(VENV)/dev.stamp
	$(BIN)/python -m bench --quick $(or $(ARGS),alone contest crowd endless logins)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/hadolint docker/Dockerfile
	SECRET_KEY=any-that-lets-the-file-be-read $(BIN)/docker-compose -f docker/compose.yml config -q

stubs: $(VENV)/dev.stamp
	cd battlebot/wire/macondo && $(CURDIR)/$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. macondo.proto

viewers:
	for library in ogl idiomorph; do (cd vendor/$$library && npm ci --no-audit --no-fund && npm run --silent build) || exit 1; done

# With the oldest Python that is supported: others have packages for what it can run, but not always the other way round.
upgrade:
	@test "$$($(PYTHON) -c 'import sys; print(sys.version_info[:2])')" = "(3, 11)" || { echo "make: upgrade needs Python 3.11; name one by PYTHON=/path/to/python" >&2; exit 1; }
	rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	$(PIP) install -r requirements-dev.txt -e .
	{ sed '/^[^#]/d' constraints.txt && $(PIP) freeze --exclude-editable; } > constraints.new && mv constraints.new constraints.txt
	@touch $(VENV)/run.stamp && touch $(VENV)/dev.stamp

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/run.stamp: constraints.txt requirements.txt pyproject.toml | $(BIN)/python
	@echo "Installing Battlebot into $(VENV) ..."
	@$(INSTALL) -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt constraints.txt requirements.txt pyproject.toml | $(BIN)/python
	@echo "Installing Battlebot into $(VENV), and what tests and linters need ..."
	@$(INSTALL) -r requirements-dev.txt
	@touch $(VENV)/run.stamp $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 to 3.14 was found; name one by PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -I -c '$(SUITABLE)' || { echo "make: $(PYTHON) is not a Python 3.11 to 3.14; name one by PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu install the package python3-venv" >&2; exit 1; }
	@case "$$PWD" in *'$$'*) echo "make: setuptools installs nothing from a folder with a \$$ in its path; rename it" >&2; exit 1;; esac
	@test ! -L $(VENV) || rm $(VENV) # what it leads to is another folder's
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
