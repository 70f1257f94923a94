# Every target works as the first command after a clone: each installs what it needs into .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test test-browser lint bench clean

install: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,bench]'
	touch $(STAMP)

demo: install
	$(BIN)/stepsmooth demo --out demo

# --dist loadscope keeps a module on one worker, so that numba compiles its loops once.
test: install
	$(BIN)/python -m pytest -n 2 --dist loadscope

# The same tests skip themselves under `make test` where there is no Chromium; here that is a failure.
test-browser: install
	STEPSMOOTH_BROWSER=needed $(BIN)/python -m pytest tests/browser

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
