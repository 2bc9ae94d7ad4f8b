# Thin: each target says which program does the work. PYTHON is only used to make .venv.
PYTHON ?= python3
VENV := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help install run test check bench gpu-check

help:
	@echo "make run        the portal on http://127.0.0.1:8000/ (PORT=8001 DATA=folder make run for another)"
	@echo "make test       everything the tests need, then the whole suite"
	@echo "make check      lint, types, import rules"
	@echo "make bench      the benchmarks: one page, and build/bench.json"
	@echo "make gpu-check  what needs CUDA, in one go"
	@echo "make install    .venv with everything (run and test do this first)"

install:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here: install Python 3.11 or newer, or run make with PYTHON=/path/to/python3.11." >&2; exit 1; }
	@$(PYTHON) kvportal/install.py

run: install
	@exec $(VENV)/python manage.py up --stop-with-parent

test: install
	@exec $(VENV)/python -m tests.suite

check: install
	@$(VENV)/ruff format --check --quiet .
	@$(VENV)/ruff check --quiet .
	@$(VENV)/mypy --no-error-summary
	@$(VENV)/lint-imports

bench: install
	@exec $(VENV)/python -m tests.bench

gpu-check: install
	@exec $(VENV)/python -m tests.gpu.check
