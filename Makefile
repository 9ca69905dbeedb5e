# Two commands for newcomers: `make up` runs the node, `make test` proves it. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help up demo test chaos fuzz check format lint types layers unit coverage install install-dev model docs lock clean

help: ## show the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: install model ## run the whole system on embedded parts
	@$(BIN)/lithify up

demo: install model ## a tour of about a minute on a node of its own
	@$(BIN)/lithify demo

test: install-dev model ## run the default test-suite on real embedded parts
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

chaos: install-dev ## minutes of injected faults against real servers: MINUTES=5 SEED=1 (or SEED=1,2,3), TURNS= a seed
	@LITHIFY_TEST_QDRANT_BIN="$$(deploy/tools/fetch-qdrant .venv/qdrant)" $(BIN)/python -m tests.chaos --minutes $(or $(MINUTES),5) --seeds $(or $(SEED),1) $(if $(TURNS),--turns $(TURNS))

fuzz: install-dev model ## thousands of requests to every operation of a node: REQUESTS=10000 SEED=1
	@LITHIFY_FUZZ_REQUESTS=$(or $(REQUESTS),10000) LITHIFY_FUZZ_SEED=$(or $(SEED),1) $(BIN)/python -m pytest -q tests/attack/test_fuzz.py

check: format lint types layers unit ## format, lint, types, layers and unit tests in under a minute

format: install-dev ## format the code
	@$(BIN)/ruff format .

lint: install-dev ## lint the code
	@$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: install-dev ## check the types
	@$(BIN)/mypy

layers: install-dev ## check which package may import which
	@$(BIN)/lint-imports

unit: install-dev ## run the unit tests
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 tests/unit

coverage: install-dev model ## branch coverage of the default suite
	@$(BIN)/coverage run -m pytest && $(BIN)/coverage report

model: install ## build the default embedding model once
	@$(BIN)/lithify models build

install: .venv/installed ## create the environment and install the package
install-dev: .venv/installed-dev ## the same with the development tools

.venv/installed: requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock && $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e . && touch $@

.venv/installed-dev: requirements-dev.lock .venv/installed
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock && touch $@

docs: install ## renew the generated pages
	@$(BIN)/python -m lithify.settings.reference > docs/settings.md
	@$(BIN)/python -m lithify.telemetry.reference > docs/metrics.md

lock: ## renew the lock files from pyproject.toml
	@deploy/tools/lock $(PYTHON)

clean: ## remove the environment and caches, never data
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage dist
