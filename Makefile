# Everything a newcomer needs: `make demo` and `make test` set themselves up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help setup demo test check bench format schemas clean

help:
	@echo "make demo    set up, then compare real llama.cpp servers with speculation off and on (runs/demo)"
	@echo "make test    set up, then run every test"
	@echo "make check   ruff (format and lint) and the type checker"
	@echo "make bench   time starting, judging, asking and deciding, each beside the least that could do it"
	@echo "make format  let ruff rewrite what it can"
	@echo "make schemas write docs/*.schema.json anew, after a change of what summary.json or findings.jsonl hold"
	@echo "make clean   remove .venv and build output (runs/ stays)"

setup: $(READY)

# uv if it is there, plain pip if not; either way everything lands in .venv.
$(READY): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python -e '.[demo]' --group dev; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' && \
	  $(BIN)/python -m pip install --quiet -e '.[demo]' --group dev; \
	fi
	@touch $@

demo: setup
	$(BIN)/draftproof demo --out runs/demo

# The heavy ones start real model servers and want the whole machine: apart, and one at a time.
test: setup
	$(BIN)/python -m pytest -n auto -m 'not heavy'
	$(BIN)/python -m pytest -m heavy

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

bench: setup
	$(BIN)/python benchmarks/all.py

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: setup
	for name in summary finding; do $(BIN)/python -c 'import sys; from draftproof.evals.schemas import schema_text; \
	  sys.stdout.write(schema_text(sys.argv[1]))' $$name.schema.json > docs/$$name.schema.json; done

clean:
	rm -rf $(VENV) build dist *.egg-info
