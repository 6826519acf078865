# make run and make test set up everything that they need on a fresh Debian 12 with Python 3.11.

PYTHON ?= python3
ARGS ?=
PYTEST_ARGS ?=
# how many tests run at a time: agents and browsers mostly wait, so more than there are cores
WORKERS ?= $(shell expr 2 \* $$(nproc))
# what is chosen may all be in another run; pytest ends with 5 where nothing is left to run
NONE_CHOSEN = $(if $(strip $(PYTEST_ARGS)),|| [ $$? -eq 5 ])

BIN := .venv/bin
# with RETRY=1, as in CI, a failed test runs once more, alone, and is called flaky if it passes then
PYTEST = $(BIN)/python -m $(if $(RETRY),tests.retry,pytest) --dist worksteal
API := docs/openapi.json docs/events.json tools/generated.py tools/pyclient.py tools/typescript.py
API_TYPES := web/src/api/types.ts
PACKAGING := setup.py setup.cfg pyproject.toml MANIFEST.in tservice/mux/tmux/keeper.c
WEB := $(filter-out $(API_TYPES),$(shell find web -name node_modules -prune -o -type f -print \
	2>/dev/null)) $(API_TYPES)
RUN_NEEDS := tmux git curl
QUICK_NEEDS := $(RUN_NEEDS) build-essential=cc
TEST_NEEDS := $(QUICK_NEEDS) chromium chromium-headless-shell openssh-client=ssh \
	openssh-server=sshd podman docker.io=dockerd runc catatonit iptables nginx-light=nginx caddy \
	busybox zsh fish tcsh csh=bsd-csh mmdebstrap podman-compose systemd=systemctl

.DELETE_ON_ERROR:
.PHONY: help run quick test test-rest test-all lint check test-web bench stress web gallery docs \
	docs-html release clean

help:
	@echo "make run       start the service on http://127.0.0.1:8770/ (ARGS='--listen ...')"
	@echo "make quick     ruff and the fast unit tests: no root, browser or agent CLI (a minute)"
	@echo "make test      what a change can break: linters, web tests, unit, contract, security and"
	@echo "               integration tests, a flow of each page, a session of each agent CLI"
	@echo "               (ten minutes; PYTEST_ARGS='-k ...')"
	@echo "make test-all  make test, and the rest: every browser flow, every walk of an agent CLI,"
	@echo "               containers, OS users, short stress forms (twenty minutes more)"
	@echo "make test-rest only what make test-all adds to make test"
	@echo "make check     ruff, mypy and the layer test"
	@echo "make test-web  types, formatting and tests of the browser UI"
	@echo "make bench     benchmarks, as ratios against peers"
	@echo "make stress    long-running checks: crashes, soaks"
	@echo "make web       build the browser UI into tservice/static"
	@echo "make gallery   show every component of the browser UI on one page, without a service"
	@echo "make docs      write what the program declares into docs, man, etc and generated code"
	@echo "make docs-html build the pages of docs into build/docs"
	@echo "make release VERSION=x.y.z  changelog, version, tag, archive and wheel with checksums"
	@echo "make clean     remove what was built, .venv included"

run: .venv/.run
	@exec $(BIN)/twistd --nodaemon --pidfile= tservice $(ARGS)

# whatever the caller's environment says: each test process, and much of what it starts, imports all
# that the first one compiled
quick test test-rest lint check stress: export PYTHONDONTWRITEBYTECODE =
# node and npm of .venv, where the machine has none of its own
test test-rest .venv/.test: export PATH := $(PATH):$(CURDIR)/$(BIN)
# beside the packages, not in the machine's temporary folder
export NODE_COMPILE_CACHE := $(CURDIR)/web/node_modules/.cache/node

quick: .venv/.quick
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) -n $$(nproc) -m "not long" tests/unit $(PYTEST_ARGS)

# mypy takes one processor, whatever there is
test: .venv/.test
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint test-web
	$(PYTEST) -n $(WORKERS) -m "not extended" $(PYTEST_ARGS) $(NONE_CHOSEN)

test-rest: .venv/.test
	$(PYTEST) -n $(WORKERS) -m extended --ignore tests/unit $(PYTEST_ARGS) $(NONE_CHOSEN)
	$(BIN)/python -m bench hostile

test-all:
	$(MAKE) --no-print-directory test
	$(MAKE) --no-print-directory test-rest

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python tools/commits.py
	$(BIN)/mypy tservice tests bench docs/pictures.py docs/film.py

check: lint
	$(BIN)/python -m pytest -q tests/unit/test_layers.py

test-web: .venv/.test
	$(BIN)/python setup.py -q test_web

bench: .venv/.test
	$(BIN)/python -m bench $(ARGS)

stress: .venv/.test
	EXAMPLES_TIMES=25 $(BIN)/python -m pytest -q -n 2 \
		$$(grep -rl --include='test_*.py' 'tests.examples' tests/unit)
	set -e; for file in tests/stress/[a-z]*.py; do \
		$(BIN)/python -m tests.stress.$$(basename $$file .py); done

web: .venv/.test
	$(BIN)/python setup.py -q build_web

gallery: .venv/.test
	$(BIN)/python setup.py -q gallery

docs: .venv/.test
	$(BIN)/python docs/generate.py

release: .venv/.test
	$(BIN)/python tools/release.py $(VERSION)

docs-html: .venv/.test
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/docs

clean:
	rm -rf .venv build dist tservice.egg-info tservice/static web/node_modules web/dist $(API_TYPES)
	find tservice/client/typed -name '*.py' ! -name __init__.py -delete
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/.made:
	tools/need git curl
	tools/venv $(PYTHON)
	touch $@

# the Python client's operations and the types of the page, in one run
.venv/.api: .venv/.made $(API)
	$(BIN)/python -m tools.generated
	touch $@

$(API_TYPES): .venv/.api ;

.venv/.run: .venv/.made $(PACKAGING) $(WEB) | .venv/.api
	tools/need $(RUN_NEEDS)
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/.quick: .venv/.made $(PACKAGING) $(WEB) | .venv/.api
	tools/need $(QUICK_NEEDS)
	$(BIN)/pip install --quiet --editable '.[test]'
	$(BIN)/python setup.py -q build_web
	touch $@ .venv/.run

# an agent CLI that cannot be installed is reported by its tests
.venv/.test: .venv/.quick
	tools/need $(TEST_NEEDS)
	-$(BIN)/python -m tests.agents.cli_cache
	touch $@
