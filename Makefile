# Warpboard. `make run` starts the site, `make test` checks everything; both set up what they need.

SHELL := /bin/bash
GO ?= go
# go-nvml's headers mark old calls as deprecated: a cold build would print dozens of warnings. Without -g SQLite compiles
# in two thirds of the time; with -O1 in half of that, and tests ask it little.
export CGO_CFLAGS ?= $(if $(filter test,$(MAKECMDGOALS)),-O1,-O2) -Wno-deprecated-declarations

.DEFAULT_GOAL := help
.PHONY: help run build setup-run setup-test test test-fast generate static verify lint check vet format compiled bench house release clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: setup-run build ## Install what is missing, build, and serve on http://127.0.0.1:3000
	./warpboard serve

build: ## Build the binary ./warpboard
	$(GO) build -o warpboard .

setup-run: # packages that serving needs
	@scripts/setup run

setup-test: # packages that the tests need
	@scripts/setup test

# Tests that compare times: of a judge and a runner, which want a core each, and what a sandbox costs. No other test may run
# beside them. All others wait for what happens, however long it takes.
TIMED := ./evaluator/attacks ./evaluator/harness ./evaluator/sandbox
TIMED_TESTS := ^(TestAttacksThatAreScoredOnTheCPUAreShownWithTheTimeThatTheyTook|TestCallsOfAGPUAreGatedAndTimedByThreeClocks|TestSandboxCostsLittle)$$

# make lint vets everything.
TESTFLAGS := -race -vet=off -timeout 20m

# Collecting garbage took a fifth of the tests' time.
test: export GOGC ?= 400
# Nobody debugs what is tested: without tables for debuggers the compiler takes a seventh less. With the race detector come
# checks of unsafe pointers, most of them in reflect, which take a fifteenth of the tests' time; we use none but in one test.
# Whoever compiles for the tests (compiled) takes the same flags, or everything is compiled twice.
PLAIN := -dwarf=false -d=checkptr=0
# Inlining takes a seventh of the time of compiling what others wrote and templ generates, and saves their tests nothing.
UNINLINED := github.com/... warpboard/views
# Packages that only compute: the detector need not watch them. It still sees what they do through sync, reflect, maps and channels.
# Trap: a package that publishes with sync/atomic may not stand here, or the detector finds races where there are none (regexp2
# has one atomic, a clock's). Nor may one be inlined: the fast path of a lock would be compiled in, unseen.
UNWATCHED := compress/... encoding/json image/draw image/gif image/jpeg image/png regexp/... golang.org/x/image/... golang.org/x/net/html \
  $(addprefix github.com/,alecthomas/... andybalholm/... dlclark/... google/jsonschema-go/... \
  klauspost/compress/flate klauspost/compress/gzip klauspost/compress/internal/...)
# Of the patterns that match a package the last counts.
test: export GOFLAGS := $(shell $(GO) env GOFLAGS) '-gcflags=all=$(PLAIN)' \
  $(foreach p,$(UNINLINED),'-gcflags=$(p)=$(PLAIN) -l') $(foreach p,$(UNWATCHED),'-gcflags=$(p)=$(PLAIN) -l -race=false')
# The race detector waits a second at the end of every process, for races of its last moment: 20 ms do.
test: export GORACE ?= atexit_sleep_ms=20
# All packages' tests share what they compile in sandboxes. The name is the same in every run: results that Go keeps hold it.
test: export WARPBOARD_TEST_OBJECTS := $(shell echo "$${TMPDIR:-/tmp}/warpboard-objects-$$(echo '$(CURDIR)' | cksum | cut -d' ' -f1)")
# So they do with an empty cluster of PostgreSQL, which each copies.
test: export WARPBOARD_TEST_CLUSTER := $(WARPBOARD_TEST_OBJECTS)-postgres
# What tests compile need not be quick (scripts/quick-compiler). Programs that are timed or attacked are compiled as on a site: the
# second go test does not name this folder, and evaluator/attacks goes round it.
test: export WARPBOARD_TEST_COMPILER := $(CURDIR)/.bin/quick/bin
# Each fuzz target is fuzzed that long as part of its package's tests.
test: export FUZZTIME ?= 1s
# The longest packages first, three at once: tests wait for much. With four two cores are not quicker.
LONGEST := ./e2e ./web ./evaluator ./models ./evaluator/toolchain ./evaluator/queue ./evaluator/harness ./evaluator/attacks ./app/verify ./tasks
test: setup-test format compiled verify .bin/quick/bin/g++ ## Run everything: format, generated files, all tests with the race detector, fuzz targets for a moment each
	@rm -rf "$$WARPBOARD_TEST_OBJECTS" "$$WARPBOARD_TEST_CLUSTER" && mkdir -m 700 "$$WARPBOARD_TEST_OBJECTS"
	PATH="$$WARPBOARD_TEST_COMPILER:$$PATH" $(GO) test $(TESTFLAGS) -skip '$(TIMED_TESTS)' -p 3 $(LONGEST) $$($(GO) list ./...)
	$(GO) test $(TESTFLAGS) -run '$(TIMED_TESTS)' -p 1 $(TIMED)
	@rm -rf "$$WARPBOARD_TEST_OBJECTS" "$$WARPBOARD_TEST_CLUSTER"

.bin/quick/bin/g++: scripts/quick-compiler
	@scripts/quick-compiler .bin/quick

test-fast: ## Run the tests without the race detector and without set-up
	$(GO) test ./...

lint: check ## Check format, vet, staticcheck (staticcheck.conf), the recipes for Kubernetes, and known vulnerabilities where their list can be reached
	@scripts/deploy-check
	@scripts/vulncheck

check: vet
	@scripts/staticcheck

vet: format
	$(GO) vet -race ./...

format:
	@unformatted=$$(git ls-files '*.go' | grep -v _templ.go | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-formatted: $$unformatted"; exit 1; fi

# A compiler is mostly through before it has filled this memory, and collecting garbage takes a tenth of its time. Those that
# go test starts share the machine with tests.
compiled:
	GOGC=off GOMEMLIMIT=1500MiB $(GO) list -race -export -deps -test ./... >/dev/null

verify: # committed generated files are fresh
	@scripts/verify-generated

generate: ## Regenerate *_templ.go after editing a .templ file
	$(GO) tool templ generate

static: ## Rebuild static/ after editing css or js (needs node and npm)
	npm ci --no-audit --no-fund && npm run build

bench: build ## Print the cost table: board page, streams, overhead of a run
	@scripts/bench

house: ## Measure the source: packages, functions, comments, tests, import arrows
	@$(GO) run ./scripts/house

release: ## Build what is published of the checked-out commit into dist/, with checksums, licences and SBOM; twice, and compare
	$(GO) run ./scripts/release -check

clean: ## Remove what was built
	rm -rf warpboard node_modules
