# Everything a newcomer needs is one target away. Needs: Rust 1.95 or newer (rustup), make and a C
# compiler; for the Python package Python 3.11 or newer. What else a target needs it fetches itself, with cargo, pip or apt.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo build dist wheel release test test-thorough test-spark test-slow miri fuzz fuzz-short bench reproduce bench-phasing bench-bloom bench-circuits bench-switching bench-helper bench-scale bench-spark check fmt titles clippy layering docs deny parameters clean

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
VESICA := $(TARGET_DIR)/release/vesica
DEMO_DIR ?= demo

help: ## Show what there is to make.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## Match two made-up customer files, two processes over TLS, and check the result.
	@$(VESICA) demo --dir $(DEMO_DIR)

build: ## Build the optimised `vesica` command.
	$(CARGO) build --release --locked --package vesica-cli

dist: ## Build the command as it is published, for speed: link-time optimisation, debug information in a file of its own.
	$(CARGO) build --profile dist --locked --package vesica-cli
	@scripts/need objcopy
	@scripts/split-debug $(TARGET_DIR)/dist/vesica

wheel: ## Build the Python package for publication: wheels for x86-64 and aarch64 and the source distribution, in `dist`.
	@scripts/wheel

release: ## Make all that a release consists of, in `dist`: static command, archive, wheels, list of crates, checksums.
	@scripts/release

test: ## Run all tests but the thorough and the slow ones.
	@scripts/tests

# At the same time, since both wait much: for networks that are slowed down, and for clusters that lost a worker.
test-thorough: ## Run what continuous integration adds: all measurements of papers, all tests with Apache Spark.
	@export TMPDIR; TMPDIR="$$(scripts/test-folder)"; \
	failed=0; out=$$(mktemp); export VESICA_WHEEL; VESICA_WHEEL=$${VESICA_WHEEL:-$$(scripts/python-wheel)}; set -x; \
	scripts/python-tests -m thorough >"$$out" 2>&1 & papers=$$!; \
	scripts/spark-tests -m "not smoke" || failed=1; \
	wait $$papers || failed=1; \
	cat "$$out"; rm "$$out"; exit $$failed

test-spark: ## Run all tests of the Python package with Apache Spark. `make test` has three of them.
	@scripts/spark-tests

test-slow: ## Run the slow tests: large files, long waits, many seeds, older versions of Spark.
	VESICA_WORD_LISTS="$$(scripts/word-lists)" VESICA_DATABASES="$$(scripts/databases)" $(CARGO) test --release --workspace --locked -- --ignored
	scripts/python-tests -m slow
	scripts/spark-versions

# Some of the code that the portable kernels share with the vector kernels is unsafe.
miri: ## Run the portable kernels under Miri, which detects undefined behaviour. Needs rustup; takes two minutes.
	@$(CARGO) +nightly miri --version >/dev/null 2>&1 \
		|| rustup toolchain install nightly --profile minimal --component miri --component rust-src
	$(CARGO) +nightly miri test --package vesica-simd --test portable --target-dir $(TARGET_DIR)/miri

fuzz: ## Search for inputs that break a decoder, guided by coverage, SECONDS=60 for each of TARGETS (all). Needs C++.
	@scripts/fuzz $(or $(SECONDS),60) $(TARGETS)

# The build of `make test`, which has the command: with fewer targets, crates would be built again with other features.
fuzz-short: ## Run every fuzz target for three seconds, without coverage; what continuous integration does.
	$(CARGO) test --workspace --locked --lib --bins --tests --no-run
	$(TARGET_DIR)/debug/vesica-fuzz --seconds 3 --at-once 4

bench: dist ## Measure, print the tables, draw the figures (BENCH=--quick is short); all goes to target/bench.
	@scripts/need python3
	$(CARGO) build --profile dist --locked --package vesica-bench
	$(CARGO) build --profile dist --locked --package vesica-records --examples
	@bench/run $(BENCH)

reproduce: dist ## Measure all tables and figures of the five papers, and write target/reproduction/index.html (BENCH=--quick is short).
	@scripts/need python3
	$(CARGO) build --profile dist --locked --package vesica-bench
	@bench/reproduce $(BENCH)

bench-phasing: dist ## Measure the tables of "Phasing" again (BENCH="--largest 20" is shorter).
	@scripts/need python3
	$(CARGO) build --profile dist --locked --package vesica-bench
	@bench/papers phasing $(BENCH)

bench-bloom: dist ## Measure the tables of the garbled Bloom filter paper again (BENCH="--largest 16" is shorter).
	@scripts/need python3
	@bench/papers bloom $(BENCH)

bench-circuits: dist ## Measure the tables of the paper on garbled circuits again (BENCH="--largest 16" is shorter).
	@scripts/need python3
	$(CARGO) build --profile dist --locked --package vesica-bench
	@bench/papers circuits $(BENCH)

bench-switching: dist ## Measure the tables of the oblivious switching paper again (BENCH="--largest 16" is shorter).
	@scripts/need python3
	$(CARGO) build --profile dist --locked --package vesica-bench
	@bench/papers switching $(BENCH)

bench-helper: dist ## Measure the tables of the server-aided paper again (BENCH="--largest 20" is shorter, 27 goes to 10^8).
	@scripts/need python3
	@bench/papers helper $(BENCH)

bench-scale: dist ## Measure how an intersection grows up to 10^9 by 10^9 (BENCH="--largest 1e8" is shorter).
	@scripts/need python3
	$(CARGO) build --profile dist --locked --package vesica-bench
	@bench/scale $(BENCH)

bench-spark: ## Measure matches of two clusters of Spark, by driver and by executors (BENCH="--rows 1e5 --partition-rows 1e4").
	@scripts/need python3
	@scripts/need java
	@scripts/need objcopy
	@test=$$(scripts/python-environment test); spark=$$(scripts/python-environment spark); \
	PATH="$$test/bin:$$PATH" VESICA_PROFILE=dist python python/build_backend.py $(TARGET_DIR)/bench/wheel >/dev/null; \
	"$$spark/bin/pip" --disable-pip-version-check install --quiet --no-index --no-deps --force-reinstall \
		$(TARGET_DIR)/bench/wheel/vesica-*.whl
	@bench/spark $(BENCH)

check: fmt titles clippy layering docs deny parameters ## Formatting, lints, layering, documents, dependencies.
	@echo "all checks passed"

fmt: ## Check the formatting.
	@scripts/need cargo-fmt
	$(CARGO) fmt --all --check

titles: ## Check the titles of the last commits; that those of a bad title fail, too.
	@scripts/commit-titles
	@! echo "Fixed things" | scripts/commit-titles - 2>/dev/null
	@! printf 'area: %080d\n' 0 | scripts/commit-titles - 2>/dev/null

clippy: ## Check the lints; a warning is an error.
	@scripts/need cargo-clippy
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

parameters: ## Check the parameters whose scripts take seconds.
	@$(MAKE) -s -C parameters/partitions

layering: ## Check who depends on whom against ARCHITECTURE.md, and the shape of the source text.
	$(CARGO) test --workspace --locked --test structure

docs: ## Check that every public item is documented and every link in the documents leads somewhere.
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

deny: ## Check licences and sources of the dependencies, and advisories where cargo-deny is installed.
	$(CARGO) test --workspace --locked --test structure -- dependencies
	@scripts/deny

clean: ## Remove what was built, and the demo's files.
	$(CARGO) clean
	rm -rf $(DEMO_DIR)
