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
FUZZTIME  ?= 10s
# Packages that start goroutines or are called by several at once: their tests
# run under the race detector, once. make soak does so for all, and runs these
# without it too.
RACE      ?= ./internal/par ./internal/gather ./internal/shm ./framework/... ./plugins/... ./bindings
# How long the tests of a package may take: enough for a machine ten times slower.
TIMEOUT   ?= 60m
# The package with kernels for arm64.
ARM64PKG  ?= ./internal/dense
FUZZPKG   ?= ./internal/dataset ./models/scqm ./cmd/scqm ./bindings
OUT       ?= out
SOAKFLAGS ?=
DOCSFLAGS ?=
CHECKFLAGS ?=

# How programs are built: without names of folders, symbols and build ID, so that
# equal sources make equal bytes, and without the tracing of gRPC, whose templates keep
# the linker from dropping methods. python/extension.py has the same for the module.
BUILDFLAGS ?= -trimpath -tags=grpcnotrace
LDFLAGS    ?= -s -w -buildid=
# The entry point that looks at limits of memory before the runtime does, for a
# platform such as linux/amd64; it needs a program without cgo.
entry       = $(if $(filter linux/amd64 linux/arm64,$(1)),-E=_scqm_entry)
HOST        = $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)
# What `make release` builds programs for.
PLATFORMS  ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
# The oldest glibc that the wheel of a release runs with.
GLIBC      ?= 2.17

# Builds work without git and in clones that belong to somebody else.
export GOFLAGS := $(GOFLAGS) -buildvcs=false
# Tests are compiled as the extension module is (python/extension.py): what one has
# compiled serves the other.
export CGO_CFLAGS := -O2 -g0
test test-go test-go-once test-go-compile test-python: export GOFLAGS += -trimpath -buildmode=pie -tags=grpcnotrace -gcflags=google.golang.org/...=-l

VENV ?= .venv

.PHONY: help
help: ## Show this list
	@echo "usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: ## Learn handwritten digits: a table, and a picture in out/
	@$(GO) run ./cmd/scqm experiment mnist -o $(OUT)

.PHONY: build
build: ## Build the program bin/scqm
	@CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -ldflags '$(LDFLAGS) $(call entry,$(HOST))' -o bin/scqm ./cmd/scqm

.PHONY: check
check: lint-python ## Before a push: build, lint, and the fast Go tests of what changed
	@$(GO) build ./...
	@$(GO) test -short -timeout $(TIMEOUT) ./...

# Go waits for the linker and for plugins, Python for single fits: side by side they
# take two thirds of the time.
.PHONY: test
test: ## Run all tests: Go, races, lint, Python
	@$(MAKE) test-go-compile
	@$(MAKE) -j3 $(if $(filter output-sync,$(.FEATURES)),-Otarget) test-go-once test-go-races test-python

# Vet runs once, as a test of internal/lint.
.PHONY: test-go
test-go: test-go-once test-go-races ## Run the Go tests, with vet, staticcheck and lint among them, and the races of RACE

# What goes on side by side would compile the same packages twice. With a larger heap
# the compiler takes four fifths of its time; tests keep theirs.
compile = GOGC=400 $(GO) list -export -deps -test -f '{{""}}'

.PHONY: test-go-compile
test-go-compile:
	@$(compile) $(PKG)

.PHONY: test-go-once
test-go-once:
	@$(GO) list $(PKG) | { grep -vxF "$$($(GO) list $(RACE))" || true; } | xargs -r $(GO) test -vet=off -timeout $(TIMEOUT)

.PHONY: test-go-races
test-go-races: need-cc
	@$(compile) -race -buildmode=exe $(RACE)
	@$(GO) test -vet=off -race -buildmode=exe -timeout $(TIMEOUT) $(RACE)

# On another machine Go programs run under emulation, which says nothing about speed.
.PHONY: test-arm64
test-arm64: ## Run the Go tests of ARM64PKG on arm64, or under emulation of it
	@if [ "$$($(GO) env GOHOSTARCH)" != arm64 ]; then \
	  emulator=$$(command -v qemu-aarch64-static || command -v qemu-aarch64) || { \
	    echo "make: test-arm64 needs qemu-aarch64 on this machine; on Debian: apt-get install qemu-user-static" >&2; exit 1; }; \
	fi; \
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -vet=off -short -timeout $(TIMEOUT) $${emulator:+-exec $$emulator} $(ARM64PKG)

.PHONY: test-python
test-python: install-python ## Build and install the wheel in .venv, and run the Python tests
	@$(VENV)/bin/python -m pytest -q python/tests

# The date of all files in wheels, sdists and lists of contents.
release wheel sdist: export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),315532800)

.PHONY: wheel
wheel: $(VENV) ## Build the Python wheel in dist/
	@rm -rf dist/*.whl build/python python/scqm.egg-info
	@log=$$($(VENV)/bin/python -m build --wheel --no-isolation $(WHEELFLAGS) . 2>&1) || { echo "$$log"; exit 1; }
	@ls dist/*.whl

.PHONY: sdist
sdist: $(VENV) ## Build the Python source distribution in dist/
	@rm -rf dist/*.tar.gz python/scqm.egg-info
	@log=$$($(VENV)/bin/python -m build --sdist --no-isolation . 2>&1) || { echo "$$log"; exit 1; }
	@ls dist/*.tar.gz

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' python/scqm/_version.py)

.PHONY: release
release: $(VENV)-release ## Build programs, wheel, sdist, lists of contents and checksums in dist/
	@rm -rf dist build
	@$(MAKE) release-programs sdist
	@if [ "$$(uname -s)" = Linux ]; then $(MAKE) release-wheel; else $(MAKE) wheel; fi
	@$(VENV)/bin/python -m zipfile -e dist/*.whl build/wheel
	@cp build/wheel/*.dist-info/sboms/scqm.cdx.json "$$(ls dist/*.whl | sed 's/whl$$/cdx.json/')"
	@cd dist && sums=$$( (sha256sum * 2>/dev/null || shasum -a 256 *) ) && echo "$$sums" | tee SHA256SUMS

# What differs between machines differs between the two: folders, caches, umask,
# time zone, language. The environments are shared, to download them once.
.PHONY: release-twice
release-twice: $(VENV) $(VENV)-release ## Build a release of the last commit in two clones and compare the bytes
	@two=$$(mktemp -d); trap 'rm -rf "$$two"' EXIT; \
	git clone -q . $$two/a; git clone -q . "$$two/b/another place"; \
	cd $$two/a; (umask 022; $(MAKE) release VENV=$(abspath $(VENV)) >$$two/log) || { cat $$two/log; exit 1; }; \
	cd "$$two/b/another place"; mkdir $$two/tmp; \
	(umask 077; export GOCACHE=$$two/cache ZIG_GLOBAL_CACHE_DIR=$$two/zig TMPDIR=$$two/tmp TZ=Asia/Tokyo LC_ALL=C PYTHONHASHSEED=7; \
	  $(MAKE) release VENV=$(abspath $(VENV)) >$$two/log) || { cat $$two/log; exit 1; }; \
	diff $$two/a/dist/SHA256SUMS dist/SHA256SUMS && cat dist/SHA256SUMS && echo "both builds are equal"

.PHONY: release-programs
release-programs:
	@mkdir -p dist
	@for platform in $(PLATFORMS); do \
	  case $$platform in linux/amd64|linux/arm64) entry='$(call entry,linux/amd64)';; *) entry=;; esac; \
	  file=dist/scqm-$(VERSION)-$${platform/\//-}; \
	  CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build $(BUILDFLAGS) \
	    -buildvcs=$(if $(wildcard .git),true,false) -ldflags "$(LDFLAGS) $$entry" -o $$file ./cmd/scqm; \
	  $(GO) run ./internal/release check $$file; \
	  $(GO) run ./internal/release sbom $$file >$$file.cdx.json; \
	done
	@program=dist/scqm-$(VERSION)-$$($(GO) env GOOS)-$$($(GO) env GOARCH); \
	if [ -x $$program ]; then $$program version && $$program version --licences >dist/scqm-$(VERSION)-licences.txt; fi

# The C compiler of Zig links against any glibc; the sources of C are the same.
.PHONY: release-wheel
release-wheel: MACHINE := $(shell uname -m)
release-wheel: export CC := $(abspath $(VENV)-release)/bin/python -m ziglang cc -target $(shell uname -m)-linux-gnu.$(GLIBC)
release-wheel: WHEELFLAGS = -C--build-option=--plat-name=manylinux_$(subst .,_,$(GLIBC))_$(MACHINE)
release-wheel: wheel
	@$(VENV)-release/bin/auditwheel show dist/*.whl | tee build/auditwheel.txt
	@verdict=$$(grep -o '"manylinux_[0-9_]*_$(MACHINE)"' build/auditwheel.txt | head -n 1 | tr -d '"'); \
	tag=manylinux_$(subst .,_,$(GLIBC))_$(MACHINE); \
	if [ -z "$$verdict" ] || ! printf '%s\n' "$$verdict" "$$tag" | sort -V -C; then \
	  echo "make: the wheel says $$tag, auditwheel says $${verdict:-that it is for this machine only}" >&2; exit 1; fi

.PHONY: wheel-check
wheel-check: wheel sdist ## Try wheel and sdist in every CPython found here; needs a package index
	@$(VENV)/bin/python python/check_wheel.py

.PHONY: install-python
install-python: wheel
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-index dist/*.whl

# The programs in Python that drills run; mypy wants to be told of each, ruff finds them.
SCRIPTS = internal/soak/cases.py internal/soak/cluster_fits.py internal/soak/real_tables.py cmd/scqm/testdata/memory_drill.py cmd/scqm/testdata/foreign_judge.py

.PHONY: lint-python
lint-python: $(VENV) ## Check the Python sources: ruff and mypy --strict
	@$(VENV)/bin/ruff check -q .
	@$(VENV)/bin/ruff format -q --check .
	@$(VENV)/bin/mypy python/scqm python/tests python/examples python/benchmarks python/*.py $(SCRIPTS)

.PHONY: lint
lint: ## Check imports, format, vet, staticcheck and house rules
	@$(GO) test -count=1 ./internal/lint

# Sphinx and what else the site takes have an environment of their own: no other target
# needs them.
.PHONY: docs
docs: $(VENV)-docs ## Build the site in docs/_build/html; its examples run
	@$(VENV)-docs/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-build-isolation .
	@$(VENV)-docs/bin/python docs/site/build.py $(DOCSFLAGS)

.PHONY: docs-check
docs-check: ## Look at every page of the site in Chromium, as a desk and a phone show it
	@test -f docs/_build/html/index.html || $(MAKE) docs
	@$(VENV)-docs/bin/python docs/site/check.py $(CHECKFLAGS)

.PHONY: bench
bench: ## Compare with the last release, then the solvers side by side; BENCHFLAGS="sheet --quick" narrows to these
	@$(if $(BENCHFLAGS),:,$(MAKE) --no-print-directory bench-versions)
	@$(GO) run ./cmd/scqm bench $(BENCHFLAGS)

.PHONY: bench-versions
bench-versions: $(VENV) ## Time this version beside the last release, in turn; VERSIONFLAGS="--old COMMIT --only sheet"
	@$(VENV)/bin/python python/benchmarks/versions.py $(VERSIONFLAGS)

.PHONY: bench-clouds
bench-clouds: build $(VENV) ## Denoise clouds drawn anew in every run; CLOUDFLAGS="--against old/scqm --n 60"
	@$(VENV)/bin/python python/benchmarks/clouds.py $(CLOUDFLAGS)

.PHONY: microbench
microbench: ## Run the Go benchmarks; BENCH=regexp selects, PKG=./losses narrows
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem $(PKG) | \
	awk '/^pkg:/ { pkg = $$2; next } \
	     /^Benchmark/ { if (pkg != "") { print pkg; pkg = "" } print "  " $$0; next } \
	     /^(goos|goarch|cpu|PASS|ok|\?)/ { next } \
	     { print }'

.PHONY: fuzz
fuzz: ## Fuzz every target of FUZZPKG for FUZZTIME each (default 10s)
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

.PHONY: soak
soak: need-cc ## Drill the program with files, kills and limits; SOAKFLAGS="-factor 0.1 -only kills" narrows
	@$(GO) run ./internal/soak -fuzztime $(FUZZTIME) $(SOAKFLAGS)

.PHONY: clean
clean: ## Remove out/, the environments and what tests left behind
	@rm -rf $(OUT) $(VENV) $(VENV)-release $(VENV)-audit $(VENV)-docs docs/_build bin build dist .pytest_cache .mypy_cache .ruff_cache
	@rm -f python/scqm/*.so python/scqm/_guard
	@find python -type d \( -name __pycache__ -o -name .pytest_cache \) -prune -exec rm -rf {} +

.PHONY: need-cc
need-cc:
	@cc=$$($(GO) env CC) || { echo "make: Go is missing; install Go 1.26 or newer" >&2; exit 1; }; \
	command -v "$${cc%% *}" >/dev/null || { \
	  echo "make: the C compiler '$$cc' is missing; the race detector needs one (Debian: apt install gcc libc6-dev)" >&2; exit 1; }

# An environment is kept as long as it holds what its requirements ask for.
$(VENV):         REQUIREMENTS := python/requirements-test.txt
$(VENV):         MODULES      := numpy, pytest, sklearn
$(VENV)-release: REQUIREMENTS := python/requirements-release.txt
$(VENV)-release: MODULES      := auditwheel, ziglang
$(VENV)-audit:   REQUIREMENTS := python/requirements-audit.txt
$(VENV)-audit:   MODULES      := pip_audit
$(VENV)-docs:    REQUIREMENTS := docs/requirements.txt
$(VENV)-docs:    MODULES      := sphinx, sphinx_gallery, pydata_sphinx_theme, websocket

.PHONY: $(VENV) $(VENV)-release $(VENV)-audit $(VENV)-docs
$(VENV) $(VENV)-release $(VENV)-audit $(VENV)-docs:
	@if cmp -s $(REQUIREMENTS) $@/requirements.txt && $@/bin/python -c 'import $(MODULES)' 2>/dev/null; then exit 0; fi; \
	command -v $(PYTHON) >/dev/null || { \
	  echo "make: $(PYTHON) is missing; install Python 3.10 or newer, or name one: make $(MAKECMDGOALS) PYTHON=..." >&2; exit 1; }; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: $(PYTHON) does not run or is older than 3.10; name another: make $(MAKECMDGOALS) PYTHON=..." >&2; exit 1; }; \
	echo "making $@ with the packages of $(REQUIREMENTS)"; \
	rm -rf $@; \
	$(PYTHON) -m venv $@ || { rm -rf $@; \
	  echo "make: '$(PYTHON) -m venv' does not work (Debian: apt install python3-venv)" >&2; exit 1; }; \
	$@/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r $(REQUIREMENTS); \
	cp $(REQUIREMENTS) $@/requirements.txt

# Versions that fit stay; UPGRADE=--upgrade takes the newest.
.PHONY: requirements
requirements: ## Write the requirements-*.txt from the .in files, with hashes; needs a package index
	@tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	$(PYTHON) -m venv $$tools; \
	$$tools/bin/python -m pip install -q --disable-pip-version-check uv==0.13.9; \
	for list in python/requirements-*.in docs/requirements.in; do (cd $${list%/*}; list=$${list##*/}; \
	  $$tools/bin/uv pip compile -q --universal --python-version 3.10 --generate-hashes --no-emit-index-url \
	    --custom-compile-command 'make requirements' $(UPGRADE) $$list -o $${list%.in}.txt); done

.PHONY: parameters
parameters: ## Write what follows from the table in models/scqm/parameters.go to Python and the guides
	@$(GO) test -count=1 ./models/scqm -run FilesFollowFromParameters -update >/dev/null

.PHONY: licences
licences: ## Write the licences of what is linked to internal/licences
	@$(GO) test -count=1 ./internal/licences -run Record -update >/dev/null
	@$(GO) test -count=1 ./internal/licences

.PHONY: vuln
vuln: ## Look for known vulnerabilities in dependencies, where the databases can be reached
	@.ci/vuln $(PYTHON) $(VENV)-audit

# Needs the network once. The outputs are committed, so nobody else does.
PROTO := plugins/protocol
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
