# The tasks of a checkout. `make` alone lists them.

# The folder of the build products, and that of the debug builds of the examples.
SCRATCH ?= .build
BUILD ?= $(SCRATCH)/storefront
# The duration of `make load` in seconds, and its number of connections.
DURATION ?= 20
CONNECTIONS ?= 64

LIBRARIES = libuv1-dev libsqlite3-dev libhttp-parser-dev libyaml-dev libssl-dev pkg-config

export SCRATCH DURATION CONNECTIONS

.PHONY: help check night demo demo-cluster test graph docs docs-preview check-static check-page screenshots soak load bench bench-http bench-sessions check-cost check-memory trial sanitize schedules fuzz format lint packages

help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

demo: packages ## builds the example service and runs it until Ctrl-C (HOST, PORT, ADMIN_PORT, DATABASE, SESSION_IDLE)
	@exec scripts/demo

demo-cluster: packages ## runs two nodes of the service with one Redis, behind a proxy, until Ctrl-C (PORT)
	@scripts/require-packages redis-server haproxy curl
	@exec scripts/demo-cluster

check: packages ## checks a change while you write it: format, house rules, the scripts, the specification, tests of the changed modules
	@scripts/check

night: packages ## checks what takes hours: both sanitizers, other builds, random inputs and orders, load, the articles, soak
	@scripts/night

test: packages ## builds and runs all tests, then those of the examples
	@scripts/require-packages redis-server
	swift build --build-tests --scratch-path $(SCRATCH)
	swift test --skip-build --scratch-path $(SCRATCH)
	swift build --build-tests --package-path Examples/Storefront --scratch-path $(BUILD)
	swift test --skip-build --package-path Examples/Storefront --scratch-path $(BUILD)
	swift build --build-tests --package-path Examples/Appointments --scratch-path $(BUILD)
	swift test --skip-build --package-path Examples/Appointments --scratch-path $(BUILD)

graph: packages ## updates the picture of the shop's graph
	@scripts/check-graph --write

check-static: packages ## builds the example service with a static Swift runtime, loads it and ends it
	@scripts/require-packages wrk curl
	@scripts/check-static

soak: packages ## runs the checks of the tests for twenty-five minutes, prints a table and plots (MODEL_SEEDS, SOAK_LOAD, SOAK_ENDS, …)
	@scripts/require-packages wrk curl gnuplot-nox redis-server
	@scripts/soak

load: packages ## loads the service with wrk, ends it in the middle of a second run, checks its closing report
	@scripts/require-packages wrk curl
	@scripts/load

bench: packages ## measures all scenarios beside hand-written Swift (ARGUMENTS: scenarios, --rounds n, --json file, --update)
	@scripts/bench $(ARGUMENTS)

bench-http: packages ## measures the service under load beside hand-written code, and beside a minimal C server
	@scripts/require-packages wrk curl
	@scripts/bench-http

bench-sessions: packages ## measures sessions in memory and in Redis, also over TLS, beside hand-written code (ARGUMENTS)
	@scripts/require-packages redis-server openssl wrk curl
	@scripts/bench-sessions $(ARGUMENTS)

check-cost: packages ## fails if an operation costs more than its figure in Benchmarks/baseline.json or its limit
	@scripts/require-packages valgrind
	@scripts/check-cost

check-memory: packages ## opens and finishes a million request environments: memory must stay flat
	@scripts/bench memory

trial: packages ## follows the article "The example shop" in a fresh clone, and prints a transcript
	@scripts/require-packages curl git
	@scripts/trial

check-page: packages ## renders the operations page in a browser: no message on the console, nothing clipped from 320 to 1,360 pixels
	@scripts/require-packages chromium curl
	@scripts/check-page

screenshots: packages ## runs check-page and keeps the pictures, including the one of the documentation
	@scripts/require-packages chromium curl
	@SCREENSHOTS=$(SCRATCH)/screenshots scripts/check-page

sanitize: packages ## runs all tests under ThreadSanitizer, then under AddressSanitizer
	@scripts/require-packages redis-server
	scripts/sanitize

schedules: packages ## runs the interleavings of two threads, and random ones of four (SCHEDULES, SCENARIO, SCHEDULE_SEEDS, SCHEDULE)
	@scripts/schedules

fuzz: ## feeds each fuzz target with a million made-up inputs, under AddressSanitizer
	scripts/fuzz $(ARGUMENTS)

docs: packages ## builds the documentation into $(SCRATCH)/docs, one site for all modules, with warnings as errors
	@scripts/docs

docs-preview: docs ## builds the documentation and serves it on localhost until Ctrl-C (PORT: 8000)
	@scripts/require-packages python3
	@echo "http://localhost:$${PORT:-8000}/"
	@python3 -m http.server --bind 127.0.0.1 --directory $(SCRATCH)/docs $${PORT:-8000}

format: ## formats all Swift sources
	swift format -i -p -r Package.swift Plugins Sources Tests Examples/*/Package.swift Examples/*/Sources Examples/*/Tests Benchmarks/Package.swift Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources Schedules/Package.swift Schedules/Tests scripts/*.swift

lint: ## checks the format of all Swift sources
	swift format lint --strict -p -r Package.swift Plugins Sources Tests Examples/*/Package.swift Examples/*/Sources Examples/*/Tests Benchmarks/Package.swift Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources Schedules/Package.swift Schedules/Tests scripts/*.swift

packages:
	@scripts/require-swift
	@scripts/require-packages $(LIBRARIES)
