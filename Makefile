# Targets for people who work on fio2es; "make help" lists them.
.DEFAULT_GOAL := help
.PHONY: help build test race fuzz fio bench lint golden images check release packages

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

build: ## build ./fio2es; "fio2es version" prints VERSION (default: what git describes)
	CGO_ENABLED=0 go build -trimpath -ldflags='-X main.release=$(VERSION)' -o fio2es ./cmd/fio2es

test: ## run the tests
	go test ./...

race: ## run the tests with the race detector
	go test -race ./...

fuzz: ## run each fuzz target for FUZZTIME (default 10m), or on so many inputs; a table at the end
	./.ci/fuzz $${FUZZTIME:-10m}

fio: ## run RUNS cases (default 300) of real fio beside its raw completions
	FIO2ES_TEST_FIO=$${FIO:-$$(command -v fio)} FIO2ES_TEST_FIO_RUNS=$${RUNS:-300} go test -count 1 -v -timeout 60m -run TestMatrix ./internal/fiomatrix

bench: ## run all benchmarks into bench.txt
	go test -run '^$$' -bench . -count 6 ./... | tee bench.txt

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

golden: ## write the golden files again; look at the difference before you commit it
	go test $$(grep -rlE 'golden\.(File|Section|Update)\(' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update

images: ## make the pictures in docs/images again; look at them before you commit them
	./.ci/images

check: ## what CI does for each change
	./.ci/run

release: ## make a release of the last commit in dist/: archives, packages, checksums, all built twice and compared
	./.ci/release

packages: ## .deb and .rpm of the last commit for this machine's processor in dist/
	./.ci/release linux/$$(go env GOHOSTARCH)
