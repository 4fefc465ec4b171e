# Every target is one line over the command line; `evalake --help` has the rest.
VENV ?= .venv
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)
ifdef UV
CREATE = uv venv --quiet --allow-existing --python $(PYTHON) $(VENV)
INSTALL = uv pip install --quiet --compile-bytecode --python $(VENV)/bin/python
else
CREATE = $(PYTHON) -m venv $(VENV)
INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
endif
RUN = $(VENV)/bin/evalake
SWEEP ?= configs/sweeps/demo.yaml
OUT ?= out
TORTURE ?= 300

.DEFAULT_GOAL := help
.PHONY: help setup demo sweep build charts report sql audit readme test lint bench torture lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Install evalake and its locked dependencies into .venv

demo: setup ## Run the main job on real code: ingest, sweep, build, charts, report
	@$(RUN) demo --output $(OUT)

sweep: setup ## Run a sweep: make sweep SWEEP=configs/sweeps/demo.yaml
	@$(RUN) run $(SWEEP)

build: setup ## Bring the warehouse up to date with the lake
	@$(RUN) build

charts: setup ## Draw the charts into OUT (default: out)
	@$(RUN) charts --output $(OUT)/charts

report: setup ## Write the one-file report into OUT
	@$(RUN) report --output $(OUT)/report.html

sql: setup ## Ask a question: make sql Q="select * from dim_runs"
	@$(RUN) sql "$(Q)"

audit: setup ## List the looks at the test split
	@$(RUN) audit looks

readme: setup ## Render README's table and pictures from the marts
	@$(VENV)/bin/python -m evalake_reports.report.readme

test: $(VENV)/.dev ## Run all tests, dbt's included
	@$(VENV)/bin/python -m pytest -n 2

lint: $(VENV)/.dev ## Check style, types, SQL and import contracts
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy && $(VENV)/bin/lint-imports && $(VENV)/bin/sqlfluff lint --processes 2 models warehouse/dbt-project/macros

bench: $(VENV)/.dev ## Measure speed side by side with what one would use instead
	@$(VENV)/bin/python -m bench

torture: $(VENV)/.dev ## Kill, starve and crowd every writer; TORTURE=30 for a tenth of it
	@$(VENV)/bin/python -m torture -n $(TORTURE)

lock: ## Resolve the dependencies anew into requirements*.txt (needs uv)
	@uv pip compile -q --universal --no-emit-index-url --python-version 3.11 --custom-compile-command "make lock" pyproject.toml -o requirements.txt && uv pip compile -q --universal --no-emit-index-url --python-version 3.11 --custom-compile-command "make lock" --group dev -c requirements.txt pyproject.toml -o requirements-dev.txt

clean: ## Remove state and outputs; the shared download cache stays
	@rm -rf .evalake $(OUT) dist

$(VENV)/.ready: requirements.txt pyproject.toml
	@$(CREATE) && $(INSTALL) -r requirements.txt && $(INSTALL) --no-deps -e . && touch $@

$(VENV)/.dev: $(VENV)/.ready requirements-dev.txt
	@$(INSTALL) -r requirements-dev.txt && touch $@
