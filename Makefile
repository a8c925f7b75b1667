# Waymark. `make help` lists the targets. They set up .venv themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= results
JOBS ?=
TARGET ?= embedded
SECONDS ?= 10
# The least glibc that a wheel needs, by its platform tag (PEP 600). The build fails if the core needs a later one.
MANYLINUX ?= manylinux_2_34

# The sources of the Rust extension. It is rebuilt when one of them changes.
SOURCES := pyproject.toml Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# The Debian packages that the loader of waymark kernel needs and this machine lacks.
KERNEL_NEEDS = $(if $(shell command -v clang),,clang) $(if $(wildcard /usr/include/libelf.h),,libelf-dev) \
	$(if $(wildcard /usr/include/zlib.h),,zlib1g-dev) $(if $(shell command -v pkg-config),,pkg-config)

P4 := $(shell find p4src -name '*.p4')
# What the page of the live lab is built from, in addition to the core and its data.
PAGE := $(wildcard web/*.json web/*.ts web/*.html) $(shell find web/src -type f)

.DEFAULT_GOAL := help
.PHONY: help wheel lab web figures numbers test test-rust test-python test-ptf test-wheel test-web ptf bench bench-switch bench-isolation bench-kernel lint goldens tofino kernel fuzz docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(VENV)/.built  ## run the experiment chan/fig3.6 through the P4 switch and draw it
	$(BIN)/waymark run chan/fig3.6 --out $(OUT) $(if $(JOBS),--jobs $(JOBS))
	@echo "The picture: $(OUT)/chan/fig3.6/plot.png"

web: web/dist/index.html  ## build the page of the live lab (waymark lab); needs Node 20

figures: $(VENV)/.built  ## run all experiments at full scale, show the time of each, and write the report
	$(BIN)/waymark run --all --out $(OUT) $(if $(JOBS),--jobs $(JOBS))
	$(BIN)/waymark report --out $(OUT)

numbers: $(VENV)/.built  ## store the tables of make figures in docs/results, and renew the README's numbers
	$(BIN)/python docs/measurements.py $(wildcard $(OUT))
	$(BIN)/python docs/signals_picture.py

test: test-rust test-python  ## run all tests; those of the switch on interfaces need root
	$(MAKE) --jobs=2 --output-sync=target test-ptf test-wheel
	$(MAKE) test-web

test-rust:
	cargo test --workspace --exclude bindings

test-python: $(VENV)/.tested
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadgroup -m "not interfaces"
	$(BIN)/python -m pytest -m interfaces

test-ptf: $(VENV)/.tested
	$(BIN)/python -m ptf_tests --if-possible
	$(BIN)/python -m ptf_tests --if-possible --target embedded-tna --main waymark
	$(BIN)/python -m ptf_tests --if-possible --target embedded-t2na --main waymark

test-wheel: $(VENV)/.tested wheel  ## install the wheel into an empty environment, and run commands from there
	WAYMARK_WHEEL=$$(ls -1t dist/*.whl | head -1) $(BIN)/python -m pytest tests/test_wheel.py

test-web: web  ## run the page of the live lab in Chromium
	cd web && npm test

ptf: $(VENV)/.tested  ## test the dataplane through P4Runtime, as root; TARGET=embedded, embedded-tna, …
	$(BIN)/python -m ptf_tests --target $(TARGET)

bench:  ## measure packets/s of the P4 program, segments/s of TCP, packet-hops/s, the longest job of table writes
	cargo bench --workspace --bench '*'
	$(PYTHON) waymark/bench.py

bench-switch: $(VENV)/.tested  ## measure packets/s and latency of the switch on veths, compared with a bare forwarder, a bridge, BMv2; as root
	cargo build --release -p dataplane-io --example bare
	$(BIN)/python -m ptf_tests.rate

bench-isolation: $(VENV)/.tested  ## measure how far table writes and reads disturb packets on veths; as root
	$(BIN)/python -m ptf_tests.isolation

bench-kernel: $(VENV)/.built kernel  ## measure Linux's TCP over a veth pair with marks and without; as root, with iperf3
	$(BIN)/python -m hosts.kernel_rate

lint: $(VENV)/.linted web/node_modules/.installed  ## run rustfmt, clippy, ruff, pyright, svelte-check, ESLint and prettier
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --manifest-path fuzz/Cargo.toml --target-dir "$${CARGO_TARGET_DIR:-target}" --locked -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	cd web && npm run --silent check

goldens: $(VENV)/.tested  ## renew the golden files and packet scripts; then read the diff
	INSTA_UPDATE=always cargo test --workspace --exclude bindings
	$(PYTHON) p4src/tests/make_scripts.py
	$(BIN)/python -m pytest --renew-goldens $(addprefix tests/test_,$(addsuffix .py,controller_apply controller_config controller_shows trace)) tests/test_experiments.py::test_the_file_of_costs_has_what_the_scenarios_cost
	$(BIN)/python docs/p4runtime_compliance.py
	git status --short

tofino:  ## compile the programs for Tofino where bf-p4c or p4c-barefoot is on PATH, and print what they take
	$(PYTHON) p4src/tofino.py

kernel: | $(BIN)/python  ## build the loader of waymark kernel; installs clang and libelf's headers where missing (apt)
	$(if $(strip $(KERNEL_NEEDS)),apt-get update -qq && apt-get install -qq --no-install-recommends $(strip $(KERNEL_NEEDS)))
	cargo build --release -p kernel-hosts --features bpf
	install "$${CARGO_TARGET_DIR:-target}/release/waymark-kernel" $(BIN)/

fuzz: $(VENV)/.built  ## run each fuzz target for SECONDS=10; needs a C++ compiler
	SECONDS_EACH=$(SECONDS) PYTHON=$(PYTHON) fuzz/run

docs: $(VENV)/.documented  ## build the documentation in site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Read it with: $(PYTHON) -m http.server --directory site"

wheel: web | $(BIN)/python  ## build an installable wheel in dist/: the package with its P4 programs, experiments and page
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist \
		--config-settings build-args="--compatibility $(MANYLINUX)" .
	@ls -1t dist/*.whl | head -1

clean:  ## remove all build outputs (.venv, target, results, site)
	rm -rf $(VENV) target results site fuzz/target web/dist web/node_modules web/public/data web/public/lab.wasm

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.built: $(SOURCES) | $(BIN)/python
	@echo "Building the Rust core; the first time takes some minutes."
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	@touch $@

web/node_modules/.installed: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --silent
	@touch $@

web/public/lab.wasm: $(SOURCES) web/core
	@mkdir -p web/public
	web/core

web/public/data/presets.json: $(VENV)/.built web/presets.py $(P4)
	$(BIN)/python web/presets.py web/public/data

web/public/data/exercises.json: $(VENV)/.built web/exercises.py $(shell find exercises -type f)
	$(BIN)/python web/exercises.py web/public/data

web/dist/index.html: web/public/lab.wasm web/public/data/presets.json web/public/data/exercises.json web/node_modules/.installed $(PAGE)
	cd web && npm run --silent build

$(VENV)/.tested: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.linted: $(VENV)/.tested $(VENV)/.documented
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

$(VENV)/.documented: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@
