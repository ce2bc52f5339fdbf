# Warpboard. `make run` starts the site, `make test` runs the tests; both install what they need.

SHELL := /bin/bash
GO ?= go
# go-nvml's headers mark old calls as deprecated: a cold build would print dozens of warnings.
export CGO_CFLAGS ?= -O2 -Wno-deprecated-declarations
# As in a release. It also lets a second clone use what the first one has built.
export GOFLAGS ?= -trimpath

PARTS := race postgres browser judge torch faults attacks timed

.DEFAULT_GOAL := help
.PHONY: help run build test test-all $(PARTS:%=test-%) lint format vet generate static bench release clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@printf '  make %s\n' $(PARTS:%=test-%)

run: ## Install what is missing, build, and serve on http://127.0.0.1:3000
	@scripts/setup run
	@$(MAKE) build
	./warpboard serve

build: ## Build the binary ./warpboard
	$(GO) build -o warpboard .

test: format ## Check format and vet, and run the small tier of the tests, in minutes
	@scripts/setup test
	$(GO) vet ./...
	@scripts/test small

test-all: format ## Run all tests, part by part: an hour (TESTING.md)
	@scripts/setup test-all
	@scripts/verify-generated
	@scripts/test all

$(PARTS:%=test-%): test-%:
	@scripts/setup test-all
	@scripts/test $*

lint: format ## Check format, vet, staticcheck (staticcheck.conf), the recipes for Kubernetes, and known vulnerabilities where their list can be reached
	$(GO) vet ./...
	@scripts/staticcheck
	@scripts/verify-generated
	@scripts/deploy-check
	@scripts/vulncheck

format:
	@unformatted=$$(git ls-files '*.go' | grep -v _templ.go | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-formatted: $$unformatted"; exit 1; fi

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
