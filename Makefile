# Everything here needs Go, a C compiler, Python 3 with headers and venv, and
# nothing else. Variables can be set: make test PYTHON=python3.12

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

GO        ?= go
PYTHON    ?= python3
PKG       ?= ./...
BENCH     ?= .
BENCHTIME ?= 0.5s
BENCHFLAGS ?=
FUZZTIME  ?= 20s
# Packages with tests of numbers, which run without the race detector only.
NUMBERS   ?= ./models/denoise
FUZZPKG   ?= ./internal/dataset ./models/scqm
OUT       ?= out

# Builds work without git and in clones that belong to somebody else.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

VENV         := .venv
REQUIREMENTS := python/requirements-test.txt

.PHONY: help
help: ## Show this list
	@echo "usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: ## Learn handwritten digits: a table, and pictures in out/
	@$(GO) run ./cmd/scqm demo -o $(OUT)

.PHONY: test
test: test-go test-python ## Run all tests: Go with race detector, lint, Python

.PHONY: test-go
test-go: need-cc ## Run go vet, the Go tests under the race detector, and lint
	@$(GO) vet $(PKG)
	@$(GO) test -race $(PKG)
	@$(GO) test $(NUMBERS)

.PHONY: test-python
test-python: install-python ## Build and install the wheel in .venv, and run the Python tests
	@$(VENV)/bin/python -m pytest -q python/tests

.PHONY: wheel
wheel: $(VENV) ## Build the Python wheel in dist/
	@rm -f dist/*.whl
	@log=$$($(VENV)/bin/python -m build --wheel --no-isolation . 2>&1) || { echo "$$log"; exit 1; }
	@ls dist/*.whl

.PHONY: sdist
sdist: $(VENV) ## Build the Python source distribution in dist/
	@rm -f dist/*.tar.gz
	@log=$$($(VENV)/bin/python -m build --sdist --no-isolation . 2>&1) || { echo "$$log"; exit 1; }
	@ls dist/*.tar.gz

.PHONY: wheel-check
wheel-check: wheel sdist ## Try wheel and sdist in every CPython found here; needs a package index
	@$(VENV)/bin/python python/check_wheel.py

.PHONY: install-python
install-python: wheel
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-index dist/*.whl

.PHONY: lint-python
lint-python: $(VENV) ## Check the Python sources: ruff and mypy --strict
	@$(VENV)/bin/ruff check -q setup.py python
	@$(VENV)/bin/ruff format -q --check setup.py python
	@$(VENV)/bin/mypy python/scqm python/tests python/examples python/benchmarks python/check_wheel.py

.PHONY: lint
lint: ## Check imports, format, vet, staticcheck and house rules
	@$(GO) test -count=1 ./internal/lint

.PHONY: bench
bench: ## Compare the solvers side by side; BENCHFLAGS="r3 --quick" narrows, -o DIR draws
	@$(GO) run ./cmd/scqm bench $(BENCHFLAGS)

.PHONY: microbench
microbench: ## Run the Go benchmarks; BENCH=regexp selects, PKG=./losses narrows
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem $(PKG) | \
	awk '/^pkg:/ { pkg = $$2; next } \
	     /^Benchmark/ { if (pkg != "") { print pkg; pkg = "" } print "  " $$0; next } \
	     /^(goos|goarch|cpu|PASS|ok|\?)/ { next } \
	     { print }'

.PHONY: fuzz
fuzz: ## Fuzz every target of FUZZPKG for FUZZTIME each (default 20s)
	@for pkg in $(FUZZPKG); do \
	  targets=$$($(GO) test -list '^Fuzz' $$pkg) || { echo "$$targets"; exit 1; }; \
	  for target in $$(grep '^Fuzz' <<<"$$targets" || true); do \
	    $(MAKE) fuzz-one PKG=$$pkg TARGET=$$target; \
	  done; \
	done

# A target that finds nothing can still fail with a bare "context deadline
# exceeded" (golang/go#75804, fixed in Go 1.27). Real findings name their input.
.PHONY: fuzz-one
fuzz-one:
	@echo "fuzz $(PKG) $(TARGET)"; \
	log=$$(mktemp); trap 'rm -f "$$log"' EXIT; status=0; \
	$(GO) test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $(PKG) >"$$log" 2>&1 || status=$$?; \
	if [ $$status = 0 ]; then tail -n 3 "$$log" | grep -v '^PASS$$'; exit 0; fi; \
	if grep -q 'context deadline exceeded' "$$log" && ! grep -q -e 'Failing input' -e 'panic' "$$log"; then \
	  echo "no finding; stopped at the deadline (golang/go#75804)"; exit 0; fi; \
	cat "$$log"; exit $$status

.PHONY: clean
clean: ## Remove out/, .venv and what tests left behind
	@rm -rf $(OUT) $(VENV) bin build dist .pytest_cache .mypy_cache .ruff_cache
	@rm -f python/scqm/*.so python/scqm/_guard
	@find python -type d \( -name __pycache__ -o -name .pytest_cache \) -prune -exec rm -rf {} +

.PHONY: need-cc
need-cc:
	@cc=$$($(GO) env CC) || { echo "make: Go is missing; install Go 1.26 or newer" >&2; exit 1; }; \
	command -v "$${cc%% *}" >/dev/null || { \
	  echo "make: the C compiler '$$cc' is missing; the race detector needs one (Debian: apt install gcc libc6-dev)" >&2; exit 1; }

# .venv is kept as long as it holds what REQUIREMENTS ask for.
.PHONY: $(VENV)
$(VENV):
	@if cmp -s $(REQUIREMENTS) $(VENV)/requirements.txt && $(VENV)/bin/python -c 'import numpy, pytest, sklearn' 2>/dev/null; then exit 0; fi; \
	command -v $(PYTHON) >/dev/null || { \
	  echo "make: $(PYTHON) is missing; install Python 3.10 or newer, or name one: make $(MAKECMDGOALS) PYTHON=..." >&2; exit 1; }; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: $(PYTHON) does not run or is older than 3.10; name another: make $(MAKECMDGOALS) PYTHON=..." >&2; exit 1; }; \
	echo "making $(VENV) for the Python tests"; \
	rm -rf $(VENV); \
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "make: '$(PYTHON) -m venv' does not work (Debian: apt install python3-venv)" >&2; exit 1; }; \
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check -r $(REQUIREMENTS); \
	cp $(REQUIREMENTS) $(VENV)/requirements.txt

# Needs the network once. The outputs are committed, so nobody else does.
PROTO := plugins/internal/protocol
.PHONY: proto
proto: ## Generate the Go code of the plugin protocol from its .proto file
	@tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv $$tools/venv; \
	$$tools/venv/bin/python -m pip install -q --disable-pip-version-check grpcio-tools==1.85.1; \
	GOBIN=$$tools $(GO) install google.golang.org/protobuf/cmd/protoc-gen-go; \
	GOBIN=$$tools $(GO) install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2; \
	PATH=$$tools:$$PATH $$tools/venv/bin/python -m grpc_tools.protoc -I$(PROTO) \
	  --go_out=$(PROTO) --go_opt=paths=source_relative \
	  --go-grpc_out=$(PROTO) --go-grpc_opt=paths=source_relative loss.proto
