# Each target sets up what it needs; the second time that is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
BESIDE := --dist loadfile --no-loadscope-reorder
READY := $(VENV)/.ready
# The tests start hundreds of processes: without stored bytecode each compiles the grader anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install grade check test test-all bench diagnosis-report capstone-seeds cuda release clean

install: $(READY)

# The environment is made anew when what it is made from changes.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "torch==2.13.0"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[instructor,watch]" $$($(PYTHON) scripts/groups.py test check)
	touch $(READY)

grade: install
	$(BIN)/python scripts/demo.py

check: install
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check grader tests scripts solutions
	$(BIN)/mypy
	$(BIN)/mypy --platform win32
	$(BIN)/mypy --platform darwin

# Something from every area, in minutes. Attacks starve their neighbours, so they run after the rest.
test: install
	$(PYTEST) -m "not slow" -n logical $(BESIDE) --ignore=tests/sandbox --ignore=tests/attacks
	$(PYTEST) -m "not slow" -n logical --dist worksteal tests/sandbox tests/attacks

# The tests of `make test`, then the rest.
test-all: test
	$(PYTEST) -m slow -n logical $(BESIDE) --ignore=tests/sandbox --ignore=tests/attacks --durations=20
	$(PYTEST) -m slow -n logical --dist worksteal tests/sandbox tests/attacks

bench: install
	$(BIN)/python scripts/bench.py

diagnosis-report: install
	$(BIN)/python scripts/diagnosis_report.py --write

# Train the capstone's reference on ten seeds: some minutes.
capstone-seeds: install
	$(BIN)/python scripts/capstone_seeds.py --write

# Beside a GPU: CUDA's verdict is the simulated device's for every check of everything that is right, and of every
# mistake that breaks device or precision. Says so and does nothing without one.
cuda: install
	$(BIN)/python -m pytest -m cuda -rs -n 4 --timeout 3600 tests/worker/test_sim.py

release: install
	$(BIN)/grader release release

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache release
