# Every recipe needs Python 3.11 or newer, its pip, and make; `make setup` brings the rest.

PYTHON  ?= python3
WORKERS ?= 2
CONFIG  ?= configs/quickstart.toml

BIN   := .venv/bin
STAMP := .venv/.setup-done
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help setup train test lint torture clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## Make .venv and install the exact versions of constraints.txt

train: setup  ## Train by self-play: make train CONFIG=configs/quickstart.toml
	$(BIN)/python -m train $(CONFIG)

test: setup  ## Run the tests, without the slow ones
	$(PYTEST) -n $(WORKERS) --dist loadfile tests

lint: setup  ## Check style, format, types and the arrows between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The kernels keep a cache of their own for code with bounds checks.
torture: setup  ## Run the slow tests, all tests with bounds checks, the rules uncompiled
	$(PYTEST) -n $(WORKERS) -m torture tests
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -n $(WORKERS) --dist loadfile tests
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(WORKERS) -m "nojit and not torture" tests

clean:  ## Remove caches and build artefacts; keep .venv and runs
	rm -rf build dist *.egg-info htmlcov .coverage .coverage.* \
		.pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

# Made again only when a requirement changed. A .venv that exists is kept, with what is in it.
$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@$(call require_311,$(BIN)/python)
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "make: no '$(PYTHON)' here; name a Python 3.11 or newer: make setup PYTHON=..." >&2; exit 1; }
	@$(call require_311,$(PYTHON))
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "make: '$(PYTHON)' lacks the module venv or ensurepip; install it (Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv

# $(call require_311,PYTHON): one clear line where that Python is too old.
require_311 = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "make: crib_env needs Python 3.11 or newer; '$(1)' is $$($(1) --version 2>&1)" >&2; exit 1; }
