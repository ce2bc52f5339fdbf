# Warpboard. `make run` starts the site, `make test` checks everything; both set up what they need.

SHELL := /bin/bash
GO ?= go
# go-nvml's headers mark old calls as deprecated: a cold build would print dozens of warnings.
export CGO_CFLAGS ?= -O2 -Wno-deprecated-declarations
# As in a release. It also lets a second clone use what the first one has built: 10 GB less.
export GOFLAGS ?= -trimpath

.DEFAULT_GOAL := help
.PHONY: help run build setup-run setup-test test test-fast generate static verify lint check vet format compiled bench release clean

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

# These tests compare times, so no other test may run beside them: a judge and a runner want a core each.
TIMED := ./evaluator/attacks ./evaluator/harness ./evaluator/sandbox
TIMED_TESTS := ^(TestScoredCPUAttacksShowTheirTrueTime|TestCallsOfAGPUAreGatedAndTimedByThreeClocks|TestHandingAnInputOverIsNoKernelsTime|TestSandboxCostsLittle)$$
# The longest packages start first, three at a time: many tests wait for a process. Four at a time are not faster on two cores.
LONGEST := ./e2e ./web ./evaluator ./web/evalapi ./web/pages ./models ./evaluator/toolchain ./web/pages/profiles ./web/pages/workbench ./web/api \
  ./web/pages/authoring ./evaluator/queue ./evaluator/harness ./evaluator/attacks ./internal/app/verify ./tasks
# make lint vets everything.
TESTFLAGS := -race -vet=off -timeout 40m

# With Go's default, garbage collection takes a fifth of the tests' time.
test: export GOGC ?= 400
# The race detector sleeps for a second when a process ends, and tests start hundreds.
test: export GORACE ?= atexit_sleep_ms=20
# Packages share the judges that they compile, and an empty PostgreSQL cluster to copy. The path must not change between runs:
# Go's test cache depends on it.
test: export WARPBOARD_TEST_OBJECTS := $(shell echo "$${TMPDIR:-/tmp}/warpboard-objects-$$(echo '$(CURDIR)' | cksum | cut -d' ' -f1)")
test: export WARPBOARD_TEST_CLUSTER := $(WARPBOARD_TEST_OBJECTS)-postgres
# Each fuzz target runs for this long as part of its package's tests.
test: export FUZZTIME ?= 1s
test: setup-test format compiled verify ## Run everything: format, generated files, all tests with the race detector, a second of each fuzz target
	@rm -rf "$$WARPBOARD_TEST_OBJECTS" "$$WARPBOARD_TEST_CLUSTER" && mkdir -m 700 "$$WARPBOARD_TEST_OBJECTS"
	$(GO) test $(TESTFLAGS) -skip '$(TIMED_TESTS)' -p 3 $(LONGEST) $$($(GO) list ./...)
	$(GO) test $(TESTFLAGS) -run '$(TIMED_TESTS)' -p 1 $(TIMED)
	@rm -rf "$$WARPBOARD_TEST_OBJECTS" "$$WARPBOARD_TEST_CLUSTER"

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

# Compilers beside tests slow them down, and some tests run programs with a time limit of seconds.
compiled:
	$(GO) list -race -export -deps -test ./... >/dev/null

verify: # committed generated files are fresh
	@scripts/verify-generated

generate: ## Regenerate *_templ.go after editing a .templ file
	$(GO) tool templ generate

static: ## Rebuild static/ after editing css or js (needs node and npm)
	npm ci --no-audit --no-fund && npm run build

bench: build ## Print the cost table: board page, streams, overhead of a run
	@scripts/bench

release: ## Build what is published of the checked-out commit into dist/, with checksums, licences and SBOM; twice, and compare
	$(GO) run ./scripts/release -check

clean: ## Remove what was built
	rm -rf warpboard node_modules
