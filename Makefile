# Waymark. `make help` lists what can be made; everything sets itself up in .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= results
JOBS ?=
TARGET ?= embedded
SECONDS ?= 10

# What the built extension depends on; a change of any of it builds again.
SOURCES := pyproject.toml Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.DEFAULT_GOAL := help
.PHONY: help lab figures numbers test test-rust test-python test-ptf ptf bench bench-switch lint goldens fuzz docs clean

help:  ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(VENV)/.built  ## the main job: run chan/fig3.6 through the P4 switch, draw it
	$(BIN)/waymark run chan/fig3.6 --out $(OUT) $(if $(JOBS),--jobs $(JOBS))
	@echo "The picture: $(OUT)/chan/fig3.6/plot.png"

figures: $(VENV)/.built  ## all figures and tables at full scale, with the time of each, and the page of all
	$(BIN)/waymark run --all --out $(OUT) $(if $(JOBS),--jobs $(JOBS))
	$(BIN)/waymark report --out $(OUT)

numbers: $(VENV)/.built  ## store the tables of make figures in docs/results, and write README's numbers from them
	$(BIN)/python docs/measurements.py $(wildcard $(OUT))

test: test-rust test-python test-ptf  ## every test; those of the switch on interfaces only as root

test-rust:
	cargo test --workspace --exclude bindings

test-python: $(VENV)/.tested
	$(BIN)/python -m pytest

test-ptf: $(VENV)/.tested
	$(BIN)/python -m ptf_tests --if-possible

ptf: $(VENV)/.tested  ## dataplane tests through P4Runtime, as root; TARGET=embedded, embedded-p4c or bmv2
	$(BIN)/python -m ptf_tests --target $(TARGET)

bench:  ## packets/s through the P4 program, segments/s of TCP, packet-hops/s of a whole run
	cargo bench --workspace --bench '*'
	$(PYTHON) waymark/bench.py

bench-switch: $(VENV)/.tested  ## packets/s through the switch on veths, as root; BMv2 beside it where it is
	$(BIN)/python -m ptf_tests.rate

lint: $(VENV)/.linted  ## rustfmt, clippy, ruff, pyright
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --manifest-path fuzz/Cargo.toml --locked -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

goldens: $(VENV)/.tested  ## renew the golden files and packet scripts; read the diff afterwards
	INSTA_UPDATE=always cargo test --workspace --exclude bindings
	$(PYTHON) p4src/tests/make_scripts.py
	$(BIN)/python -m pytest --renew-goldens $(addprefix tests/test_,$(addsuffix .py,controller_apply controller_config controller_shows trace))
	$(BIN)/python docs/p4runtime_compliance.py
	git status --short

fuzz: $(VENV)/.built  ## try the parsers and the packet path on odd input, SECONDS=10 each; needs a C++ compiler
	SECONDS_EACH=$(SECONDS) PYTHON=$(PYTHON) fuzz/run

docs: $(VENV)/.documented  ## build the documentation in site/; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "To read it: $(PYTHON) -m http.server --directory site"

clean:  ## remove what was built (.venv, target, results, site)
	rm -rf $(VENV) target results site fuzz/target

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.built: $(SOURCES) | $(BIN)/python
	@echo "Building the Rust core; the first time takes some minutes."
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.linted: $(VENV)/.tested
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

$(VENV)/.documented: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@
