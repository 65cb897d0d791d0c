# Every target sets up what it needs, from nothing, and does again only what has changed.
#
#   PYTHON=python3.12       another interpreter (3.11 or newer)
#   SIMNET_BUILD=require    fail where the core cannot be compiled, instead of running interpreted

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The checks start hundreds of processes, which would compile the same modules again and again.
export PYTHONDONTWRITEBYTECODE :=

# A machine that checks changes has to check the compiled engine too.
ifdef CI
SIMNET_BUILD ?= require
endif
SIMNET_BUILD ?= auto

# One more than there are CPUs: tests wait for browsers, other processes and disks now and then.
WORKERS := $(shell cpus=$$(getconf _NPROCESSORS_ONLN); echo $$((cpus < 4 ? cpus + 1 : 4)))
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS)
# $(call install,PYTHON,WHAT) takes seconds with uv and a minute with pip, which can do it, too.
install = { $(BIN)/uv pip install --quiet --python $(1) $(2) 2>/dev/null || $(1) -m pip install --quiet --no-compile $(2); }
MECHANISMS := $(addprefix tests/,kernel host net storage laws)
# What is run interpreted as well: laws and fingerprints compare the two engines themselves, and
# every night so does each test of what depends on the engine.
INTERPRETED := tests/kernel
ON_BOTH_ENGINES := $(addprefix tests/,kernel host net workload)
# What `make test` leaves out; `make test-all` leaves out nothing.
LANE := -m "not nightly"

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## simulate the x460 out of the box, and compare it with the measurement
	@$(MAKE) --jobs 2 core
	@$(BIN)/simnet run x460-out-of-box --format compare

.PHONY: test
test: ## check the code, run the tests compiled, and those that compare the engines interpreted too
	@$(MAKE) --jobs 4 --output-sync=target lint types core test-interpreted
	@$(MAKE) test-compiled

.PHONY: test-all
test-all: ## every night: all tests, and what the documentation shows that takes minutes, too
	@SIMNET_DOCS=all HYPOTHESIS_PROFILE=night $(MAKE) test LANE= INTERPRETED="$(ON_BOTH_ENGINES)"

.PHONY: test-browser
test-browser: $(VENV)/installed-dev core ## look at reports and the page in a real browser; fails without Chromium
	@SIMNET_BROWSER=require $(BIN)/python -m pytest -q $(PYTEST_OPTIONS) tests/browser

.PHONY: check
check: ## in less than a minute: style, types, and quick tests of kernel, host, net, storage and laws
	@$(MAKE) --jobs 4 --output-sync=target lint types core
	@$(PYTEST) --dist worksteal -m "not slow and not nightly and not packaging" $(PYTEST_OPTIONS) $(MECHANISMS)

.PHONY: coverage
coverage: ## run the tests and tell which lines they reach; following every line takes three times as long
	@rm -f .coverage
	@$(MAKE) test-interpreted LANE= INTERPRETED="$(ON_BOTH_ENGINES)" PYTEST_OPTIONS="--cov --cov-append --cov-report= --cov-fail-under=0"
	@$(MAKE) test-compiled LANE= PYTEST_OPTIONS="--cov --cov-append --cov-report=term"

.PHONY: mutants
mutants: MUTANTS := --sample 600 --seed 1 --require 85
mutants: $(VENV)/installed-dev ## tell how many mistakes in the mechanisms their tests notice
	@nice -n 15 $(BIN)/python -m tests.mutants $(MUTANTS)

.PHONY: lint
lint: $(VENV)/installed-dev ## check style and form
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

.PHONY: types
types: $(VENV)/installed-dev ## check types
	@$(BIN)/mypy

.PHONY: test-interpreted
test-interpreted: $(VENV)/installed-dev other-python ## run the tests of the mechanisms on the interpreted engine
	@SIMNET_ENGINE=interpreted $(PYTEST) --dist worksteal $(LANE) $(PYTEST_OPTIONS) $(INTERPRETED)

.PHONY: test-compiled
test-compiled: $(VENV)/installed-dev core ## run all tests on the compiled engine, packaging included
	@SIMNET_ENGINE=$(if $(filter require,$(SIMNET_BUILD)),compiled,auto) $(PYTEST) --dist loadfile --no-loadscope-reorder $(LANE) $(PYTEST_OPTIONS)

.PHONY: other-python
other-python: $(VENV)-other/installed ## install on a second Python, if there is one, for the tests

.PHONY: bench
bench: $(VENV)/installed-dev core ## measure speed and memory, side by side with SimPy
	@for script in bench/bench_*.py; do SIMNET_ENGINE=compiled $(BIN)/python "$$script"; done

.PHONY: fuzz
fuzz: $(VENV)/installed-dev ## feed the core, compiled with checks, inputs that nobody would type (CASES=2000)
	@SIMNET_ENGINE=checked $(BIN)/python simnet/_build
	@SIMNET_ENGINE=checked $(BIN)/python -m pytest -q tests/house/test_determinism.py -k checks_itself
	@SIMNET_ENGINE=checked $(BIN)/python -m tests.fuzz --cases $(or $(CASES),2000) $(FUZZ_OPTIONS)

.PHONY: build
build: SIMNET_BUILD := require
build: core ## compile what has changed

.PHONY: wheel
wheel: build ## make a wheel with the compiled core in dist/, and run it where there is no compiler and no source
	@rm -f dist/simnet_hostpath-*.whl
	@SIMNET_BUILD=require $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@there=$$(mktemp -d); trap 'rm -rf "$$there"' EXIT; \
	$(BIN)/python -m venv "$$there"; $(call install,"$$there/bin/python",dist/simnet_hostpath-*.whl); \
	(cd "$$there" && env -i PATH="$$there/bin" SIMNET_ENGINE=compiled SIMNET_CACHE_DIR= \
	  simnet run x460-out-of-box --format compare)
	@ls dist/simnet_hostpath-*.whl

.PHONY: site
site: $(VENV)/installed-dev ## make a site of the documentation in out/site; warnings are errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "to look at it: $(BIN)/python -m http.server --bind 127.0.0.1 --directory out/site"

.PHONY: clean
clean: ## remove everything that these targets have made
	rm -rf $(VENV) $(VENV)-other build dist out/bench out/site simnet/_checked simnet/_compiled .coverage .coverage.* htmlcov
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What runs the core is installed, for want of a network rather than a processor, while it compiles.
.PHONY: core
core: $(VENV)/installed compiled

.PHONY: compiled
compiled: $(VENV)/installed-build
	@$(BIN)/python simnet/_build || [ "$(SIMNET_BUILD)" != require ]

$(VENV)/bin/python:
	@for python in $${PYTHON:-python3.11 python3.12 python3.13 python3}; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "simnet: making $(VENV) with $$python"; \
	    exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo "simnet: Python 3.11 or newer is needed; name one with PYTHON=..." >&2; exit 2

$(VENV)/installed-build: pyproject.toml | $(VENV)/bin/python
	@echo "simnet: installing"
	@# uv reads no settings of pip: where they name an index, pip does the work.
	@$(BIN)/python -m pip config list | grep -q index || $(BIN)/python -m pip install --quiet uv || true
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], "editables", sep="\n")' > $(VENV)/build-requires
	@$(call install,$(BIN)/python,--requirement $(VENV)/build-requires)
	@touch $@

# The core is compiled apart, where one can see it.
$(VENV)/installed: $(VENV)/installed-build
	@export SIMNET_BUILD=skip; $(call install,$(BIN)/python,--no-build-isolation --editable '.[recommend]')
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "simnet: installing what the checks need"
	@export SIMNET_BUILD=skip; $(call install,$(BIN)/python,--no-build-isolation --editable '.[dev]')
	@touch $@

# Results must not depend on the version of Python: a test compares this one's if it is there.
$(VENV)-other/installed: pyproject.toml | $(VENV)/installed
	@mkdir -p $(VENV)-other
	@mine=$$($(BIN)/python -c 'import sys; print(sys.version_info[:2])'); \
	for python in $${OTHER_PYTHON:-python3.12 python3.13 python3.14 python3.11 "$$HOME"/.pyenv/versions/3.1[1-9]*/bin/python}; do \
	  version=$$("$$python" -c 'import sys; v = sys.version_info; print(v[:2] if v >= (3, 11) else "")' 2>/dev/null || true); \
	  if [ -n "$$version" ] && [ "$$version" != "$$mine" ]; then \
	    echo "simnet: installing on $$python too"; \
	    "$$python" -m venv $(VENV)-other; \
	    export SIMNET_BUILD=skip; $(call install,$(VENV)-other/bin/python,--editable .); \
	    break; \
	  fi; \
	done
	@touch $@
