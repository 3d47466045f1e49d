# What a person or a machine does with a checkout. `make` alone lists it.

# Where the build products go.
SCRATCH ?= .build
# How long `make load` loads the service, in seconds, and over how many connections.
DURATION ?= 20
CONNECTIONS ?= 64

LIBRARIES = libuv1-dev libsqlite3-dev libhttp-parser-dev pkg-config

export SCRATCH DURATION CONNECTIONS

.PHONY: help demo test load bench check-memory sanitize format lint packages

help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

demo: packages ## builds the example service and runs it until Ctrl-C (HOST, PORT, DATABASE, SESSION_IDLE)
	@exec scripts/demo

test: packages ## builds and runs all tests
	swift build --build-tests --scratch-path $(SCRATCH)
	swift test --skip-build --scratch-path $(SCRATCH)

load: packages ## loads the service with wrk, ends it in the middle of a second run, checks its closing report
	@scripts/require-packages wrk
	@scripts/load

bench: ## measures a request's lifecycle beside hand-written Swift
	swift run --package-path Benchmarks -c release Benchmarks

check-memory: ## opens and finishes a million request environments: memory must stay flat
	swift run --package-path Benchmarks -c release Benchmarks memory

sanitize: packages ## runs all tests under ThreadSanitizer, then under AddressSanitizer
	scripts/sanitize

format: ## formats all Swift sources
	swift format -i -p -r Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

lint: ## checks the format of all Swift sources
	swift format lint --strict -p -r Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

packages:
	@scripts/require-swift
	@scripts/require-packages $(LIBRARIES)
