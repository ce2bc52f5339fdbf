# Warpboard. `make run` starts the site, `make test` checks everything; both set up what they need.

SHELL := /bin/bash
GO ?= go
# go-nvml's headers mark old calls as deprecated; without this a cold build prints dozens of warnings.
export CGO_CFLAGS ?= -O2 -g -Wno-deprecated-declarations

.DEFAULT_GOAL := help
.PHONY: help run build setup-run setup-test test test-fast generate static verify lint check bench house clean

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

# Packages in which a judge and a runner want a core each: what they time must not wait for another package's tests.
TIMED := ^warpboard/(app|e2e|evaluator|evaluator/(attacks|harness|sandbox.*|toolchain.*))$$

test: setup-test check verify ## Run everything: format, vet, staticcheck, generated files, all tests with the race detector, fuzz targets for a moment each
	WARPBOARD_TEST_COMPLETE=1 $(GO) test -race -p 2 -timeout 20m ./web $$($(GO) list ./... | grep -vE '$(TIMED)') # the longest first
	WARPBOARD_TEST_COMPLETE=1 $(GO) test -race -p 1 -timeout 20m $$($(GO) list ./... | grep -E '$(TIMED)')
	@scripts/fuzz

test-fast: ## Run the tests without the race detector and without set-up
	$(GO) test ./...

lint: check ## Check format, vet, staticcheck (staticcheck.conf), and known vulnerabilities where their list can be reached
	@scripts/vulncheck

# vet runs with the race detector, so that the tests find everything compiled: 1.5 of 4 minutes of a cold cache.
check:
	@unformatted=$$(git ls-files '*.go' | grep -v _templ.go | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-formatted: $$unformatted"; exit 1; fi
	$(GO) vet -race ./...
	$(GO) tool staticcheck ./...

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

clean: ## Remove what was built
	rm -rf warpboard node_modules
