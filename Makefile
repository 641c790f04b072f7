# `make demo` and `make test` do all of their set-up: a virtual environment with the tested versions.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
OUT ?= runs

# how many hostile inputs: 1 are 100,000 label files and criterion calls, 10,000 records, 5,000 command lines, a kill at
# every call that changes the disk, and thousands of everything else; 0.1 are a tenth
MANY ?= 1
SEED ?= 0

.PHONY: demo test test-slow test-long fuzz check bench clean

demo: $(VENV)/ready
	$(BIN)/labelspace compare digits --cost squared --model mlp-32-2 --budget 90s --out $(OUT)

test: check
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow and not long"  # some wait for processes

# kills, whole-contract runs and large real data: CI runs these too
test-slow: $(VENV)/ready
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "slow and not long"  # many wait for processes

# what takes minutes and repeats at length what the others show: digits with all seeds, pages attacked key by key
test-long: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 -m long

# hostile inputs in large numbers, for hours; prints how many were tried, refused, accepted and right, wrong, …
fuzz: $(VENV)/ready
	LABELSPACE_FUZZ=$(MANY) LABELSPACE_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest -n 2 tests/hostile -s -q

check: $(VENV)/ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

bench: $(VENV)/ready
	for script in benchmarks/*.py; do $(BIN)/python $$script; done

clean:
	rm -rf $(VENV)

# the mark is written last, so that an interrupted installation is made again
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps timm  # without torchvision, which its test stands in for
	touch $@
