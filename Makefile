# Every target sets up what it needs by itself, in versions fixed here. `make` alone lists them.

.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

GO ?= go
FUZZTIME ?= 10s
# arm64 or x86_64: the processor that build-arm64, size and the SAM build are for.
LAMBDA_ARCH ?= arm64
# otlp links the exporter that the OTEL_* variables turn on, 8 MB more.
TRACE ?=

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
CFN_LINT    := 1.58.0
SAM_CLI     := 1.170.0

TOOLS := .build
CFN_LINT_BIN := $(TOOLS)/cfn-lint-$(CFN_LINT)/bin/cfn-lint
SAM_BIN      := $(TOOLS)/aws-sam-cli-$(SAM_CLI)/bin/sam
LAMBDA_BIN   := bin/mcp-$(LAMBDA_ARCH)/bootstrap
INTEROP      := $(TOOLS)/interop

# Neither the Runtime API nor KMS speaks HTTP/2: 0.5 MB.
TAGS_      := lambda.norpc,nethttpomithttp2
TAGS_otlp  := $(TAGS_),otlp
TAGS        = $(or $(TAGS_$(TRACE)),$(error TRACE is $(TRACE), want otlp or nothing))

# What a start and a call to KMS run, but no request to a warm instance: without inlining, 0.4 MB less.
COLD := github.com/aws/... github.com/coreos/... github.com/go-jose/... golang.org/x/... vendor/... \
	crypto/tls crypto/x509 encoding/asn1 encoding/json encoding/xml math/big regexp/...

# The same bytes from every clean build.
GOARCH_arm64  := arm64
GOARCH_x86_64 := amd64
LAMBDA_BUILD = GOOS=linux GOARCH=$(or $(GOARCH_$(LAMBDA_ARCH)),$(error LAMBDA_ARCH is $(LAMBDA_ARCH), want arm64 or x86_64)) CGO_ENABLED=0 \
	$(GO) build -trimpath -buildvcs=false -tags $(TAGS) -ldflags '-s -w -buildid=' $(COLD:%=-gcflags='%=-l')

# Loading a bundle of certificates costs 5 to 10 ms a process and would be measured with it.
unexport AWS_CA_BUNDLE
export SAM_CLI_TELEMETRY = 0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: ## serve the endpoint on http://127.0.0.1:8080/mcp with keys made for this run
	$(GO) run ./functions/mcp -addr 127.0.0.1:8080

.PHONY: test
test: ## vet and run all tests; needs Go and make alone
	$(GO) vet ./...
	$(GO) test ./...

.PHONY: race
race: ## run all tests under the race detector; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race ./...

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@found=0; \
	for pkg in $$($(GO) list ./...); do \
		names=$$($(GO) test -list '^Fuzz' $$pkg); \
		for target in $$(echo "$$names" | grep '^Fuzz' || true); do \
			found=1; echo "== $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done; \
	[ $$found = 1 ] || { echo 'make fuzz: no fuzz target found' >&2; exit 1; }

.PHONY: build
build: ## build bin/mcp/bootstrap for this machine
	CGO_ENABLED=0 $(GO) build -tags $(TAGS) -o bin/mcp/bootstrap ./functions/mcp

.PHONY: build-arm64
build-arm64: ## build the deployable bin/mcp-arm64/bootstrap, reproducibly
	$(LAMBDA_BUILD) -o $(LAMBDA_BIN) ./functions/mcp

# certified stands for the module of this Go that has a certificate. A binary says which it was.
.PHONY: build-fips
build-fips: ## build bin/mcp-fips/bootstrap like build-arm64, on Go's certified FIPS 140-3 module
	GOFIPS140=certified $(LAMBDA_BUILD) -o bin/mcp-fips/bootstrap ./functions/mcp
	@$(GO) version -m bin/mcp-fips/bootstrap | grep 'GOFIPS140=v'

# One test computes a token by other means, with a nonce of its own: that is not approved.
.PHONY: test-fips
test-fips: ## run the tests of states, keys, server and endpoint on that module with approved algorithms alone
	GOFIPS140=certified $(GO) test -exec 'env GODEBUG=fips140=only' -skip '^TestBytes$$' ./mrtr ./mrtr/requeststate ./mrtr/kmskeys/... ./mrtr/internal/... ./mrtr/auth ./mrtr/lambdahttp
	GOFIPS140=certified $(GO) test -run '^Test(FIPS|Cold|Hostile|KeyServiceTrouble|Authorization|Regions)' ./functions/mcp

# Called by `sam build`, which names the folder of the artifact.
.PHONY: build-McpFunction build-StreamFunction
build-McpFunction build-StreamFunction:
	$(LAMBDA_BUILD) -o '$(ARTIFACTS_DIR)/bootstrap' ./functions/mcp

.PHONY: events
events: ## play events/ through the real binary and a fake Lambda runtime, compare the answers
	$(GO) test ./functions/mcp -run TestEvents -count=1 -v

.PHONY: bench
bench: build-arm64 ## run the benchmarks, other servers beside ours, and hold them against the budgets
	mkdir -p $(TOOLS)
	$(GO) test -run '^$$' -bench . -benchmem ./... | tee $(TOOLS)/bench.txt
	cd conformance/peers && $(GO) test -run '^$$' -bench . -benchmem -count 3 -timeout 20m . | tee -a $(abspath $(TOOLS))/bench.txt
	cd conformance/peers && $(GO) run ./budgets -binary $(abspath $(LAMBDA_BIN)) $(abspath $(TOOLS))/bench.txt

.PHONY: lint
lint: lint-cfn ## check format, vet, staticcheck, the template, and what files may not name
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs -r $$($(GO) env GOROOT)/bin/gofmt -l); \
	[ -z "$$unformatted" ] || { printf 'make lint: not formatted:\n%s\n' "$$unformatted" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags otlp ./mrtr/awslambda
	cd conformance/peers && $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	bash -n .ci/run && bash -n .ci/names && bash -n conformance/run.sh && sh -n infra/release.sh && sh -n infra/local/image.sh
	@.ci/names

.PHONY: conformance
conformance: ## judge the conformance fixture, also as a Lambda function, and our client by the official suite; needs npm
	conformance/run.sh

# make interop UPDATE=-update writes docs/clients.md.
.PHONY: interop
interop: $(INTEROP)/node_modules/.package-lock.json $(INTEROP)/python-v1/installed $(INTEROP)/python-v2/installed ## run clients of other makes, compare with docs/clients.md; needs npm
	cd conformance/peers && $(GO) test ./oauth -count=1 -v -tools $(abspath $(INTEROP)) $(UPDATE)
	cd conformance/peers && $(GO) test ./interop -count=1 -v -tools $(abspath $(INTEROP)) $(UPDATE)

.PHONY: lint-cfn
lint-cfn: $(CFN_LINT_BIN) ## check the templates
	$(CFN_LINT_BIN) template.yaml infra/*.yaml

# Containers run on this machine's processor, whatever is deployed.
HOST_ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)
REBUILD   := $(TOOLS)/rebuild

.PHONY: sam
sam: export LAMBDA_ARCH = $(HOST_ARCH)
sam: export AWS_DEFAULT_REGION = us-east-1
sam: $(SAM_BIN) ## check, build and play everything with the SAM CLI; needs Docker
	$(SAM_BIN) validate --lint
	rm -rf .aws-sam
	$(SAM_BIN) build --parameter-overrides Architecture=$(LAMBDA_ARCH)
	@# From another folder and without a cache the same bytes come out.
	rm -rf $(REBUILD) && mkdir -p $(REBUILD)/source
	tar -c --exclude=./.build --exclude=./.aws-sam --exclude=./.git --exclude=./bin . | tar -x -C $(REBUILD)/source
	cd $(REBUILD)/source && GOCACHE=$(abspath $(REBUILD)/cache) $(LAMBDA_BUILD) -o ../bootstrap ./functions/mcp
	cmp .aws-sam/build/McpFunction/bootstrap $(REBUILD)/bootstrap
	cmp .aws-sam/build/RestApiStack/StreamFunction/bootstrap $(REBUILD)/bootstrap
	rm -rf $(REBUILD)
	MRTR_SAM_PYTHON=$(abspath $(dir $(SAM_BIN)))/python MRTR_SAM_CLI=$(abspath $(SAM_BIN)) $(GO) test ./infra -count=1 -v

# make deploy ENV=prod PARAMETERS='OAuthIssuer=https://issuer.example.com MemorySize=512'
# deploys with infra/parameters/prod.yaml and what is said here. Values with spaces go into the file.
ENV ?= dev
PARAMETERS ?=
ENV_FILE = infra/parameters/$(ENV).yaml

.PHONY: deploy
deploy: export LAMBDA_ARCH := $(LAMBDA_ARCH)
deploy: $(SAM_BIN) ## build and deploy to AWS; ENV is dev or prod, PARAMETERS what its file leaves out
	$(SAM_BIN) build --parameter-overrides Architecture=$(LAMBDA_ARCH)
	release=$$(infra/release.sh .aws-sam/build/McpFunction/bootstrap $(ENV_FILE) $(PARAMETERS)); \
	$(SAM_BIN) deploy --config-env $(ENV) --parameter-overrides file://$(ENV_FILE) $(PARAMETERS) Architecture=$(LAMBDA_ARCH) Release=$$release

# TOKEN is exported rather than said here, where a list of processes shows it.
.PHONY: smoke
smoke: ## judge the endpoint at URL; TOKEN, OTHER_TOKEN, AWS=1, ROUND_TTL and ORIGIN say more
	@$(GO) run ./conformance/smoke $(if $(AWS),-aws) $(if $(ROUND_TTL),-round-ttl '$(ROUND_TTL)') $(if $(ORIGIN),-origin '$(ORIGIN)') '$(URL)'

.PHONY: size
size: build-arm64 ## print the size of the deployable binary and of its zip
	@wc -c < $(LAMBDA_BIN) | awk '{ printf "binary %.2f MB\n", $$1 / 1e6 }'
	@gzip -9 -n -c $(LAMBDA_BIN) | wc -c | awk '{ printf "zip    %.2f MB\n", $$1 / 1e6 }'

.PHONY: clean
clean: ## remove what make wrote
	rm -rf bin .build .aws-sam

$(CFN_LINT_BIN):
	python3 -m venv $(TOOLS)/cfn-lint-$(CFN_LINT)
	$(TOOLS)/cfn-lint-$(CFN_LINT)/bin/python -m pip install --quiet cfn-lint==$(CFN_LINT)

$(SAM_BIN):
	python3 -m venv $(TOOLS)/aws-sam-cli-$(SAM_CLI)
	$(TOOLS)/aws-sam-cli-$(SAM_CLI)/bin/python -m pip install --quiet aws-sam-cli==$(SAM_CLI)

$(INTEROP)/node_modules/.package-lock.json: conformance/peers/interop/package-lock.json
	mkdir -p $(INTEROP)
	cp conformance/peers/interop/package.json $< $(INTEROP)/
	npm ci --prefix $(INTEROP) --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

$(INTEROP)/python-%/installed: conformance/peers/interop/requirements-%.txt
	python3 -m venv --clear $(INTEROP)/python-$*
	$(INTEROP)/python-$*/bin/python -m pip install --quiet -r $<
	touch $@
