# The commands of the README. Each creates .venv when it is missing, then calls one tool.
PYTHON ?= python3
BIN := .venv/bin
# Two test processes on two cores: threads of linear algebra would only wait for each other.
export OPENBLAS_NUM_THREADS = 1
# Hundreds of tests start a process: compiled modules are kept, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE
READY := .venv/.ready

.PHONY: demo test test-thorough test-slow mutants lint compatibility generated docs bench clean

demo: $(READY)
	$(BIN)/python -m sordino.cli.demo

# One seed for the order and for the keys (conftest.py): what fails once fails again.
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal --randomly-seed=1

test-thorough: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal --randomly-seed=1 -m "thorough and not slow"

test-slow: $(READY)
	$(BIN)/python -m pytest -n 2 -m slow

mutants: $(READY)
	$(BIN)/python tests/mutants/run.py

lint: $(READY) docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

compatibility: $(READY)
	$(BIN)/python .ci/compatibility.py

generated: $(READY)
	$(BIN)/python docs/generated.py

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $@

clean:
	rm -rf .venv docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
