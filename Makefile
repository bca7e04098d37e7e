# Everything runs from .venv, which `make setup` builds. Other tools needed: git, make, python3.11;
# for infra/ and its tests node.

PYTHON ?= python3.11
UV_VERSION := 0.13.9
TORCH_VERSION := 2.13.0

BIN := .venv/bin
UV := .venv/.uv-$(UV_VERSION)
STAMP := .venv/.stamp
POLICY := .venv-policy
POLICY_STAMP := $(POLICY)/.stamp
LOCKS := requirements/dev.lock requirements/model.lock

# Models come inside packages; nothing may ask a hub.
export HF_HUB_OFFLINE := 1
# Without bytecode on disk every process compiles torch's imports anew: many seconds each.
unexport PYTHONDONTWRITEBYTECODE

# uv does not read pip's configuration, so pip's find-links and index are handed on through the
# environment. Where no find-links folder holds torch, uv takes the CPU build: the plain one is a
# CUDA build of several GB. UV_* variables that are already set win. pip's extra indexes are not
# handed on: uv would take a package from the first index that has it, at whatever version.
define UV_ENV
pip_option() { $(BIN)/pip config get "global.$$1" 2>/dev/null || true; }; \
links="$${UV_FIND_LINKS:-$$(echo $${PIP_FIND_LINKS:-$$(pip_option find-links)} | tr ' ' ',')}"; \
index="$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$(pip_option index-url)}}"; \
if [ -n "$$links" ]; then export UV_FIND_LINKS="$$links"; fi; \
if [ -n "$$index" ]; then export UV_DEFAULT_INDEX="$$index"; fi; \
if [ -z "$$(IFS=,; for dir in $$links; do ls "$${dir#file://}"/torch-$(TORCH_VERSION)*.whl; done 2>/dev/null)" ]; \
then export UV_TORCH_BACKEND="$${UV_TORCH_BACKEND:-cpu}"; fi;
endef

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-emulator diagram check fmt policy policy-lock bench sim \
	chaos docs docs-check golden lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) $(POLICY_STAMP) ## build .venv and .venv-policy from the locks, where they changed

$(BIN)/pip:
	$(PYTHON) -m venv .venv

$(UV): $(BIN)/pip
	$(BIN)/pip install --quiet uv==$(UV_VERSION)
	@touch $@

$(STAMP): $(UV) pyproject.toml $(LOCKS)
	@set -e; $(UV_ENV) set -x; \
	$(BIN)/uv pip install --python $(BIN)/python --no-deps -r requirements/dev.lock -e .; \
	$(BIN)/uv pip install --python $(BIN)/python --no-deps --require-hashes -r requirements/model.lock
	@touch $@

# checkov pins boto3 and others to versions of its own.
$(POLICY_STAMP): $(UV) requirements/policy.lock
	@set -e; $(UV_ENV) set -x; \
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(POLICY); \
	$(BIN)/uv pip install --quiet --python $(POLICY)/bin/python --no-deps --require-hashes -r requirements/policy.lock
	@touch $@

demo: $(STAMP) ## embed a small corpus with a real model, kill it halfway, prove the result
	$(BIN)/python scripts/demo.py

test: $(STAMP) $(POLICY_STAMP) ## run every test except the benchmarks and the AWS emulator
	$(BIN)/pytest -n 2 --dist loadfile -m "not bench" --ignore tests/emulator/aws

test-emulator: $(STAMP) ## deploy to an AWS emulator, plan again, upgrade, destroy
	@mkdir -p build && rm -f build/emulator.txt
	$(BIN)/pytest tests/emulator/aws -n 2 --dist loadfile
	@cat build/emulator.txt

diagram: $(STAMP) ## draw the picture of the stacks in docs/explanation
	$(BIN)/python -m infra.diagram

policy: $(STAMP) $(POLICY_STAMP) ## judge every stack and blueprint; reports in build/policy
	$(BIN)/python -m policies.gate

check: $(STAMP) ## format, lint, types and who may import whom; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy worker/gristmill infra policies scripts
	$(BIN)/lint-imports

fmt: $(STAMP) ## format the code and apply safe fixes
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: $(STAMP) ## measure; prints a table and writes build/bench.json
	@mkdir -p build
	$(BIN)/pytest tests/bench -m bench -s -p no:xdist

sim: $(STAMP) ## 10,000 simulated fleets that die in every way; SEED=n: one of them, with its trace
	$(BIN)/python -m tests.sim $(if $(SEED),--seed $(SEED))

chaos: $(STAMP) ## ten minutes of killing, stalling and starving workers, then count outcomes
	CHAOS_SECONDS=300 $(BIN)/pytest tests/chaos tests/emulator/aws/test_chaos.py -m "chaos or emulator" -s -p no:xdist

docs: $(STAMP) ## write the generated pages of docs/reference
	$(BIN)/python -m scripts.docs

docs-check: $(STAMP) ## fail when a generated page of docs/reference is stale
	$(BIN)/python -m scripts.docs --check

golden: $(STAMP) ## write the golden files of tests/golden; read the diff before committing
	GOLDEN_UPDATE=1 $(BIN)/pytest tests/golden

# Compiled for the production platform, so that every machine writes the same lock. torch is added
# by hand, without a local version or hashes: docs/decisions/0001-packaging.md says why. Its old line
# goes first, or uv would keep to it and choose the CUDA build over the CPU one.
COMPILE = $(BIN)/uv pip compile pyproject.toml --quiet --extra aws --extra torch --generate-hashes \
	--python $(BIN)/python --python-version 3.11 --python-platform x86_64-manylinux_2_28 \
	--no-header --no-emit-index-url --no-emit-find-links --no-emit-package torch \
	$(if $(UPGRADE),--upgrade)

policy-lock: $(UV) ## solve the policy gate's dependencies into requirements/policy.lock
	@$(UV_ENV) $(BIN)/uv pip compile requirements/policy.in --quiet --generate-hashes \
		--python $(BIN)/python --python-version 3.11 --python-platform x86_64-manylinux_2_28 \
		--no-header --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade) \
		-o requirements/policy.lock >/dev/null
	@! grep -nE '://|^-' requirements/policy.lock

lock: $(UV) ## solve the dependencies into requirements/*.lock; UPGRADE=1 takes newer ones
	@$(UV_ENV) cd requirements && touch worker.lock dev.lock && \
	sed -i.old '/^torch==/d' worker.lock dev.lock && cd .. && \
	$(COMPILE) -o requirements/worker.lock >/dev/null && \
	$(COMPILE) --group dev --group infra -c requirements/worker.lock -o requirements/dev.lock >/dev/null || \
	{ for lock in worker dev; do mv requirements/$$lock.lock.old requirements/$$lock.lock; done; exit 1; }
	@for lock in worker dev; do echo "torch==$(TORCH_VERSION)" >> requirements/$$lock.lock; done
	@rm -f requirements/*.old
	@! grep -nE '://|^-|^(nvidia|cuda|triton)-?' requirements/*.lock

clean: ## remove what builds, tests and tools leave behind; .venv stays
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
