# Everything runs in .venv, which each target sets up by itself. PYTHON names the interpreter, 3.11 or later.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(wildcard src/native/*) CMakeLists.txt
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test lint bench sanitize clean

demo: $(BIN)/.built
	mkdir -p build/demo
	$(BIN)/gatewise demo --output build/demo

test: $(BIN)/.built
	$(BIN)/python -m pytest

lint: $(BIN)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror src/native/*.?pp tests/native/*.cpp benchmarks/*.cpp

sanitize: $(BIN)/.built
	$(BIN)/python -m pytest tests/test_native.py

bench: $(BIN)/.built
	$(BIN)/python benchmarks/infer.py

clean:
	rm -rf .venv build

$(BIN)/.tools: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet nanobind scikit-build-core cmake ninja numpy safetensors \
		pytest hypothesis ruff mypy clang-format torch skorch tqdm matplotlib tensorboard pandas polars pyarrow \
		"dask[dataframe,distributed]" ziglang pyosys onnx onnxruntime wasmtime
	touch $@

$(BIN)/.built: $(BIN)/.tools $(NATIVE)
	$(BIN)/pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@
