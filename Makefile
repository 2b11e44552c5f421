# Herbarium. `make help` lists what can be made.
GO    ?= go
TOOLS := $(GO) tool -modfile=tools/go/go.mod

# One way of compiling for all that does not run under the race detector, so that nothing is compiled twice. Google's client
# is built without gRPC, a fifth of all packages, which is not used.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -tags=disable_grpc_modules

# What does several things at once, and is tested under the race detector as well; -short leaves out what only takes long.
# Segments and SQLite are under it through those who use them, library and plants. `make race` has all of it under the detector,
# for which all clients of object stores must be compiled anew.
RACED := ./internal/access ./internal/httpapi ./internal/library ./internal/plants ./internal/store/postgres \
	./internal/telemetry ./internal/watch ./internal/web

# SQLite itself, which is C made into Go, is left out: it is large, and races in it are not looked for here.
RACE := -race -gcflags='modernc.org/...=-race=false'

.DEFAULT_GOAL := help
.PHONY: help build test race check fmt fuzz parts programs postgres s3 gcs azure chromium bench bench-10m bench-cluster pictures soak

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./herbarium, one static binary
	$(GO) build -o herbarium ./cmd/herbarium

# Parts are mostly waited for, so they are fetched while the code is checked. Vet has been run by then, over all packages below
# as well, which it would else do once more for each way of compiling them.
test: ## check everything and run every test, with the parts they need
	@$(MAKE) --no-print-directory parts & parts=$$!; \
	$(MAKE) --no-print-directory check || { kill $$parts; exit 1; }; wait $$parts
	CGO_ENABLED=1 HERBARIUM_TEST_REQUIRE=all $(GO) test -vet=off $(RACE) -short -shuffle=on $(RACED)
	HERBARIUM_TEST_REQUIRE=all $(GO) test -vet=off -shuffle=on ./...

race: parts ## run every test under the race detector
	CGO_ENABLED=1 HERBARIUM_TEST_REQUIRE=all $(GO) test $(RACE) -shuffle=on ./...

check: ## formatting, vet, staticcheck, tidiness, static build
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofmt-clean:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(TOOLS) staticcheck ./...
	$(GO) mod tidy -diff
	$(GO) build -o /dev/null ./cmd/herbarium

parts: tools/openapi/node_modules/.package-lock.json tools/axe/node_modules/.package-lock.json programs postgres s3 gcs \
	azure chromium

# Installs a Debian package, as root.
INSTALL = DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold
install = if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	echo "$(1) is needed; install it (on Debian, as root: apt-get install $(1))"; exit 1; fi; \
	$(INSTALL) $(1) || { apt-get update && $(INSTALL) $(1); }

# What the documents' examples are run with, and what deploy/ is tried with.
programs:
	@if ! command -v curl >/dev/null; then $(call install,curl); fi
	@if ! command -v python3 >/dev/null; then $(call install,python3); fi
	@if ! command -v systemd-analyze >/dev/null; then $(call install,systemd); fi
	@if ! command -v haproxy >/dev/null && [ ! -x /usr/sbin/haproxy ]; then $(call install,haproxy); fi

# The tests run a server of their own, so Debian's package is kept from starting one, unless it was set up before.
postgres:
	@if ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then \
		mkdir -p /etc/postgresql-common && echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf; fi; \
	$(call install,postgresql)

# The modules of these two have the versions of the main one, so that what both have is compiled once.
s3: tools/s3/versitygw ## build the S3 server that the tests run

tools/s3/versitygw: tools/s3/go.mod tools/s3/go.sum
	$(GO) build -modfile=tools/s3/go.mod -ldflags '-s -w' -o $@.new github.com/versity/versitygw/cmd/versitygw
	mv $@.new $@

gcs: tools/gcs/fake-gcs-server ## build the emulator of Google Cloud Storage that the tests run

tools/gcs/fake-gcs-server: tools/gcs/go.mod tools/gcs/go.sum
	$(GO) build -modfile=tools/gcs/go.mod -ldflags '-s -w' -o $@.new github.com/fsouza/fake-gcs-server
	mv $@.new $@

azure: tools/azure/node_modules/.package-lock.json ## install the emulator of Azure Blob Storage that the tests run

# The browser that the tests of the pages drive, and a font for it.
chromium:
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then exit 0; fi >/dev/null; \
	$(call install,chromium fonts-dejavu-core fonts-liberation)

tools/%/node_modules/.package-lock.json: tools/%/package.json tools/%/package-lock.json
	npm ci --prefix tools/$* --no-progress

pictures: chromium ## take the pictures of docs/pictures anew
	HERBARIUM_TEST_REQUIRE=chromium $(GO) test ./internal/webtest -run '^TestPictures$$' -count 1 -update

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

fuzz: ## run each fuzz target for a minute
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 60s $$pkg || exit 1; \
		done; \
	done

bench: ## measure everything with a million records and write bench/RESULTS.md
	$(GO) run ./bench/cmd/bench -docs docs

bench-10m: ## measure Herbarium alone with ten million records and add that
	$(GO) run ./bench/cmd/bench -docs docs -alone -n 10000000

bench-cluster: programs postgres s3 ## measure one, two and three nodes and write bench/CLUSTER.md and the tables of docs/
	HERBARIUM_TEST_REQUIRE=all $(GO) test -run '^TestMeasure$$' -count 1 -timeout 20m -v ./bench/cluster -out .. -docs ../../docs

soak: ## overload a server for ten minutes with everything at once; DURATION=1m is shorter
	$(GO) run ./bench/cmd/soak -soak.duration $(or $(DURATION),10m)
