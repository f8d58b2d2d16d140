# Everything a newcomer needs: `make demo` and `make test` set themselves up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Into .venv, in the versions of constraints.txt: with uv if it is there, with plain pip if not.
INSTALL = if command -v uv >/dev/null 2>&1; \
  then uv pip install --quiet --python $(BIN)/python --constraints constraints.txt $(1); \
  else $(BIN)/python -m pip install --quiet --constraint constraints.txt $(1); fi

.PHONY: help setup demo test check bench mutants fuzz lock audit supply format schemas clean

help:
	@echo "make demo    set up, then compare real llama.cpp servers with speculation off and on (runs/demo)"
	@echo "make test    set up, then run every test"
	@echo "make check   ruff (format and lint) and the type checker"
	@echo "make bench   time starting, parsing, judging, asking and deciding, each beside the least that could do it"
	@echo "make mutants change the judging one place at a time and see whether a test notices (docs/mutation.md)"
	@echo "make fuzz    search the readers of bytes from outside for inputs that break them"
	@echo "make lock    write constraints.txt anew, with the newest versions that pyproject.toml allows"
	@echo "make audit   ask whether a version in constraints.txt has a known vulnerability"
	@echo "make format  let ruff rewrite what it can"
	@echo "make schemas write docs/*.schema.json anew, after a change of what summary.json or findings.jsonl hold"
	@echo "make clean   remove .venv and build output (runs/ stays)"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; \
	  then uv venv --quiet --allow-existing --python $(PYTHON) $(VENV); \
	  else $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'; fi
	@$(call INSTALL,-e '.[demo]' --group dev)
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

mutants: setup
	@$(call INSTALL,--group mutants)
	$(BIN)/python benchmarks/mutants.py

fuzz: setup
	@$(call INSTALL,--group fuzz)
	$(BIN)/python -m tests.fuzz

# For every Python and machine at once; `python -m uv`, so that plain pip is enough to get it.
lock: supply
	$(BIN)/python -m uv pip compile pyproject.toml --universal --python-version 3.11 --all-extras \
	  --group dev --group mutants --group fuzz --group supply --upgrade --no-annotate --quiet \
	  --custom-compile-command "make lock" --output-file constraints.txt

audit: supply
	@$(BIN)/python .ci/audit.py

supply: setup
	@$(call INSTALL,--group supply)

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: setup
	for name in summary finding; do $(BIN)/python -c 'import sys; from draftproof.evals.comparing.schemas import schema_text; \
	  sys.stdout.write(schema_text(sys.argv[1]))' $$name.schema.json > docs/$$name.schema.json; done

clean:
	rm -rf $(VENV) build dist *.egg-info
