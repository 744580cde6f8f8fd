# Each target sets up VENV with the extra of pyproject.toml that it needs. PYTHON names the interpreter, 3.11 or later.
PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
BIN := $(VENV)/bin
START := $(shell date +%s)
# A worker per core, but no more than memory is sure to hold; one that is idle takes tests from the others.
PYTEST := python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal
TEMPLATES := src/gatewise/export/templates
NATIVE := $(wildcard src/native/* src/native/*/* src/native/*/*/*) CMakeLists.txt
CPP := src/native/*/*.?pp src/native/*/*/*.?pp tests/native/*.cpp tests/support/programs/*.h $(wildcard benchmarks/*/*.cpp benchmarks/*/*.c benchmarks/*/*/*.h) \
	$(TEMPLATES)/*/*.[ch] $(TEMPLATES)/*/*.cu $(TEMPLATES)/*/*.mjs
export PIP_CONSTRAINT := $(CURDIR)/$(CONSTRAINTS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE # modules are compiled when they are first imported, not all when they are installed
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test test-oldest lint docs page wheel sanitize bench clean

demo: $(VENV)/extra-demo
	mkdir -p build/demo
	$(BIN)/gatewise demo --output build/demo
	@echo "$$(($$(date +%s) - $(START))) seconds in all"

test: $(VENV)/extra-test
	$(BIN)/$(PYTEST)

lint: $(VENV)/extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)

docs: $(VENV)/extra-docs
	$(BIN)/mkdocs build --strict

# The page of reports, from its TypeScript; users get it built.
page: src/page/node_modules
	npm --prefix src/page run check
	npm --prefix src/page run build

src/page/node_modules: src/page/package-lock.json
	npm --prefix src/page ci
	touch $@

sanitize: $(VENV)/extra-test
	$(BIN)/python -m pytest tests/native/test_native.py

bench: $(VENV)/extra-bench
	$(BIN)/python -m benchmarks.infer

# The suite's core with the lower bounds of pyproject.toml as versions, which warn about their own age.
test-oldest:
	mkdir -p build
	$(PYTHON) tests/scripts/oldest.py > build/oldest.txt
	$(MAKE) VENV=.venv-oldest CONSTRAINTS=build/oldest.txt .venv-oldest/extra-test
	.venv-oldest/bin/$(PYTEST) -m "not slow" -W ignore::DeprecationWarning -W ignore::pytest.PytestDeprecationWarning \
		--ignore=tests/native --ignore=tests/project/test_docs.py --ignore=tests/project/test_examples.py tests

# The sdist, then a wheel from nothing but the sdist, repaired, and run where there are only numpy and safetensors.
wheel: $(VENV)/extra-wheel
	rm -rf build/wheel .venv-wheel
	$(BIN)/python -m build --sdist --outdir build/wheel
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip wheel --quiet --no-deps --wheel-dir build/wheel build/wheel/gatewise-*.tar.gz
	$(BIN)/auditwheel repair --wheel-dir build/wheel/repaired build/wheel/gatewise-*.whl
	.venv-wheel/bin/pip install --quiet build/wheel/repaired/gatewise-*.whl
	.venv-wheel/bin/python -I tests/scripts/installed.py
	mkdir -p dist
	mv build/wheel/gatewise-*.tar.gz build/wheel/repaired/gatewise-*.whl dist

clean:
	rm -rf .venv .venv-oldest .venv-wheel build dist

# An extra, and the package itself, whose native part is built again when one of its files has changed.
$(VENV)/extra-%: $(BIN)/ninja pyproject.toml $(CONSTRAINTS) $(NATIVE)
	$(BIN)/pip install --quiet --no-compile --no-build-isolation --editable '.[$*]'
	touch $@

$(BIN)/ninja:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile cmake ninja \
		$$($(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
