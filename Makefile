# Herbarium. `make help` lists the targets.
GO    ?= go

export CGO_ENABLED := 0
export GOFLAGS := -trimpath

# Packages with the most concurrency, which `make race` runs under the race detector. `make test` does not, because compiling
# everything a second time for it takes a tenth of a first run; `make soak` runs all packages under it.
RACED := ./internal/access ./internal/admission ./internal/library ./internal/plants ./internal/publish ./internal/versions

# SQLite is C translated to Go: it is large, and its memory accesses are not what these tests are about.
RACE := -race -gcflags='modernc.org/...=-race=false'

# Packages with the longest tests, which start first.
LONG := ./internal/webtest ./internal/systemtest ./internal/store/postgres ./internal/segment ./internal/httpapi ./internal/cli

# Tests that programs of others read, call or check what Herbarium serves.
INTEROP := TestInterop_

# npm packages: `make test` needs the dependencies of tools/package.json, `make interop` also the devDependencies.
NPM := tools/node_modules/.package-lock.json

# Tests that run the program as a process use this one instead of building it again.
PROGRAM := $(CURDIR)/herbarium

# A loaded machine must not fail a test run.
TIMEOUT := -timeout 30m

# Tests in browsers and of several nodes wait half of their time, so one more package than there are processors is tested at a
# time.
BESIDE := -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.DEFAULT_GOAL := help
.PHONY: help build test interop race soak overload check fmt fuzz parts interop-parts programs postgres s3 chromium bench bench-10m bench-cluster pictures coastline reference man release cross

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./herbarium, one static binary
	$(GO) build -o herbarium ./cmd/herbarium

# Downloads, linters and compilers rarely use all processors, so they run side by side; collecting garbage less often saves them
# and tests a fifth of their time. `check` runs the checks of go vet, so go test need not. Without debugging information, tests are
# linked in two thirds of the time.
test: ## run all checks and every test of ours once
	@GOGC=300 $(MAKE) --no-print-directory -j4 --output-sync=target parts check build
	GOGC=300 HERBARIUM_TEST_REQUIRE=all HERBARIUM_TEST_PROGRAM=$(PROGRAM) \
		$(GO) test -vet=off -ldflags=-w $(TIMEOUT) $(BESIDE) -skip '^$(INTEROP)' $(LONG) ./...

# Their packages are few and large; `go vet` has seen them in `make check`.
interop: interop-parts build ## test with programs of others: generated clients, agents, DuckDB, grids, redocly, kustomize
	GOGC=300 HERBARIUM_TEST_REQUIRE=all HERBARIUM_TEST_PROGRAM=$(PROGRAM) \
		$(GO) test -vet=off -ldflags=-w $(TIMEOUT) $(BESIDE) -run '^$(INTEROP)' $$(git grep -l 'func $(INTEROP)' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')

race: programs ## run the tests of the most concurrent packages under the race detector
	CGO_ENABLED=1 HERBARIUM_TEST_REQUIRE=all $(GO) test -vet=off $(TIMEOUT) $(RACE) $(RACED)

# `make release` needs a clean tag for a release; otherwise the version names the commit. PLATFORMS="linux/amd64 darwin/arm64" builds less.
release: ## build archives for all platforms, a container image, a bill of materials and checksums in dist/
	GO=$(GO) tools/release.sh dist $(PLATFORMS)

# File by file, because the tests of many packages need a Unix system.
cross: ## vet the program for Windows and macOS
	@for system in windows darwin; do export GOOS=$$system GOARCH=arm64; \
		$(GO) list -deps -f '{{with .Module}}{{if .Main}}{{$$.Dir}} {{join $$.GoFiles " "}}{{end}}{{end}}' ./cmd/herbarium | \
		while read -r dir files; do (cd "$$dir" && $(GO) vet $$files) || exit 1; done || exit 1; \
	done

# Ten minutes of overload; then random seeds, ten times as many datasets, tests in random order, the race detector for all
# packages, the bench harness on real clusters, manifests through kustomize, screenshots, and vet for other systems.
soak: overload cross parts interop-parts build ## run the long tests: overload, random seeds, race detector, bench harness, kustomize, screenshots, other systems
	HERBARIUM_TEST_SOAK=1 HERBARIUM_TEST_REQUIRE=all HERBARIUM_TEST_PROGRAM=$(PROGRAM) \
		$(GO) test -timeout 4h -shuffle=on ./...
	CGO_ENABLED=1 HERBARIUM_TEST_REQUIRE=all HERBARIUM_TEST_PROGRAM=$(PROGRAM) $(GO) test -timeout 4h $(RACE) -shuffle=on ./...

overload: ## overload a server for ten minutes with everything at once; DURATION=1m is shorter
	$(GO) test ./bench/overload -count 1 -v -timeout 4h -duration $(or $(DURATION),10m)

check: tools/lint/lint $(NPM) ## formatting, vet, staticcheck, go mod tidy; ESLint and types of the scripts
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofmt-clean:"; echo "$$out"; exit 1; fi
	$(GO) vet -vettool=$(CURDIR)/tools/lint/lint ./...
	$(GO) mod tidy -diff
	tools/node_modules/.bin/eslint --config tools/scripts/eslint.config.js internal/web/assets
	node tools/node_modules/typescript-native/bin/tsc --project tools/scripts

tools/lint/lint: tools/lint/go.mod tools/lint/go.sum tools/lint/main.go
	$(GO) build -C tools/lint -ldflags '-s -w' -o lint.new .
	mv $@.new $@

# One after the other: apt-get does not wait for another apt-get.
parts: programs $(NPM)
	@$(MAKE) --no-print-directory -j1 postgres s3 chromium

interop-parts: parts tools/node_modules/.interop tools/clients/oapi-codegen tools/kubernetes/manifests

# Installs a Debian package, as root.
INSTALL = DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold
install = if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	echo "$(1) is needed; install it (on Debian, as root: apt-get install $(1))"; exit 1; fi; \
	$(INSTALL) $(1) || { apt-get update && $(INSTALL) $(1); }

# What the examples in the documentation and the tests of deploy/ need.
programs:
	@if ! command -v curl >/dev/null; then $(call install,curl); fi
	@if ! command -v python3 >/dev/null; then $(call install,python3); fi
	@if ! command -v systemd-analyze >/dev/null; then $(call install,systemd); fi
	@if ! command -v zip >/dev/null; then $(call install,zip); fi
	@if ! command -v jq >/dev/null; then $(call install,jq); fi
	@if ! command -v haproxy >/dev/null && [ ! -x /usr/sbin/haproxy ]; then $(call install,haproxy); fi
	@if ! command -v nginx >/dev/null && [ ! -x /usr/sbin/nginx ]; then $(call install,nginx-light); fi

# The tests run servers of their own, so Debian's package must not start one, unless it was set up before.
postgres:
	@if ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then \
		mkdir -p /etc/postgresql-common && echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf; fi; \
	$(call install,postgresql)

s3: tools/s3/versitygw ## build the S3 server that the tests run

# Compiling it is a tenth of a first test run, so its packages are not optimized.
tools/s3/versitygw: tools/s3/go.mod tools/s3/go.sum tools/s3/main.go
	$(GO) build -C tools/s3 -gcflags='github.com/...=-N -l' -ldflags '-s -w' -o versitygw.new .
	mv $@.new $@

# The client generator for Go, not optimized either, and the library of the clients that it generates.
tools/clients/oapi-codegen: tools/clients/go.mod tools/clients/go.sum
	$(GO) build -gcflags='github.com/...=-N -l' -modfile=tools/clients/go.mod -ldflags '-s -w' -o $@.new github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
	$(GO) build -modfile=tools/clients/go.mod github.com/oapi-codegen/runtime
	mv $@.new $@

# The browser for the tests of the pages, and fonts for it. Without the parts that only windows need, it takes half of the
# processor time of other Chromiums, which do where it cannot be installed.
chromium:
	@if command -v chromium-headless-shell; then exit 0; fi >/dev/null; \
	if [ "$$(id -u)" != 0 ] && { command -v chromium || command -v chromium-browser || command -v google-chrome; }; then exit 0; fi >/dev/null; \
	$(call install,chromium-headless-shell fonts-dejavu-core fonts-liberation)

$(NPM): tools/package.json tools/package-lock.json
	npm ci --prefix tools --omit=dev --no-progress

# Also the packages of other programs. A later `npm ci` removes the mark with them.
tools/node_modules/.interop: $(NPM)
	npm ci --prefix tools --no-progress
	touch $@

# Manifests are read as kubectl and API servers do, which takes longest to compile.
tools/kubernetes/manifests: tools/kubernetes/go.mod tools/kubernetes/go.sum tools/kubernetes/main.go
	$(GO) build -C tools/kubernetes -gcflags='all=-N -l' -ldflags '-s -w' -o manifests.new .
	mv tools/kubernetes/manifests.new $@

pictures: chromium ## update the pictures in docs/pictures
	HERBARIUM_TEST_REQUIRE=chromium $(GO) test ./internal/webtest -run '^(TestPictures|TestAnimation|TestPublishingPictures)$$' -count 1 -update

coastline: tools/node_modules/.interop ## draw the land and write the names of places that maps show
	node tools/coastline/coastline.mjs

reference: ## write docs/cli.md from the commands
	$(GO) run ./tools/reference -markdown docs/cli.md

man: ## write man pages to dist/man; VERSION=1.2.3 is printed in them
	$(GO) run ./tools/reference -man dist/man $(if $(VERSION),-version $(VERSION))

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

fuzz: ## run each fuzz target for a minute
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 60s $$pkg || exit 1; \
		done; \
	done

bench: tools/node_modules/.interop ## measure with a million records and write bench/RESULTS.md and AGGREGATES.md
	$(GO) test -run '^TestMeasure$$' -count 1 -timeout 4h -v ./bench/serve -out ../RESULTS.md
	$(GO) run ./bench/duckdb -out bench/AGGREGATES.md

bench-10m: ## measure Herbarium alone with ten million records and write bench/RESULTS-10M.md
	$(GO) test -run '^TestMeasure$$' -count 1 -timeout 4h -v ./bench/serve -alone -records 10000000 -out ../RESULTS-10M.md

bench-cluster: programs postgres s3 ## measure one, two and three nodes and write bench/CLUSTER.md
	$(GO) run ./bench/cluster -out bench/CLUSTER.md
