# Each target works from a fresh clone. `make` alone lists them.

PYTHON  ?= python3
# For one call, handed on to streamlit or pytest:
#   make run OPTIONS="--server.address 0.0.0.0"    listen on every network the machine is in
#   make test OPTIONS="-k heads"                   some of the tests
OPTIONS ?=

IN_VENV = .venv/bin/python
READY   = .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench clean

help:
	@echo "make setup    create .venv with everything the app and its tests need"
	@echo "make run      the app on http://localhost:8501"
	@echo "make test     all tests, those in the browser included"
	@echo "make check    lint, types, tests"
	@echo "make bench    the benchmarks, as tables"
	@echo "make clean    remove caches and test results; .venv stays"
	@echo 'Another Python: make setup PYTHON=python3.12. Options for streamlit or pytest: make test OPTIONS="-k heads".'

setup: $(READY)

# The file $(READY) says when the requirements were last installed; nothing happens here until they change.
$(READY): requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Headlight needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one, for example: make $(or $(firstword $(MAKECMDGOALS)),setup) PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(IN_VENV) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(IN_VENV) -c 'import torch' 2>/dev/null || \
	  echo "Installing PyTorch. On Linux this may be several gigabytes; requirements.txt says how to get the small build."
	$(IN_VENV) -m pip install --disable-pip-version-check -r requirements-dev.txt
	@touch $(READY)

run: $(READY)
	$(IN_VENV) -m pages.parts.server $(OPTIONS)

test: $(READY)
	$(IN_VENV) -m tests.browser.chromium
	$(IN_VENV) -m pytest $(OPTIONS)

check: $(READY)
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy
	@$(MAKE) --no-print-directory test

bench: $(READY)
	@for script in $$(grep -l __main__ benchmarks/*.py); do \
	  echo "== $$script"; $(IN_VENV) -m "benchmarks.$$(basename "$$script" .py)" $(OPTIONS) || exit 1; \
	done

clean:
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
	find . \( -name .venv -o -name runs -o -name .git \) -prune -o -name __pycache__ -type d -exec rm -rf {} +
