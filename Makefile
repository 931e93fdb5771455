# Every target sets the checkout up by itself; a second time that takes no time. Needs Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
# An interpreter that has TRL.
TRL ?= .venv-trl/bin/python
# Tests wait more than they compute: one worker more than there are cores, but no more than eight.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); [ $$n -gt 7 ] && echo 8 || echo $$((n + 1)))

.PHONY: help setup quickstart test test-trl test-vllm test-formats check bench docs tiny-model wheel

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup: ## virtual environment, packages, PyTorch (a CPU build where there is no GPU), Chromium and fonts
	@$(PYTHON) scripts/setup.py

quickstart: setup ## train a policy on the kiosk app in real Chromium and write runs/quickstart/report.html
	$(BIN)/uigym quickstart --out runs/quickstart $(ARGS)

test: setup ## all tests but the slow ones; ARGS="-k env" for some
	$(BIN)/python -m pytest -m "not slow and not gpu" -n $(WORKERS) --dist loadfile $(ARGS)

test-trl: setup ## losses and advantages against TRL's own numbers; TRL gets an environment of its own
	@[ -x $(TRL) ] || { $(PYTHON) -m venv .venv-trl && .venv-trl/bin/pip install -q torch==2.13.0 trl==1.16.0; }
	UIGYM_TRL=$(TRL) $(BIN)/python -m pytest -q tests/test_trl_losses.py $(ARGS)

test-vllm: setup ## what every sampler must do, by vLLM's CPU build too; it gets an environment of its own
	@$(PYTHON) scripts/vllm_env.py
	UIGYM_VLLM_PYTHON=.venv-vllm/bin/python $(BIN)/python -m pytest -q tests/test_samplers.py -k vllm $(ARGS)

test-formats: setup ## exports read by datasets, TRL, LLaMA-Factory, Harbor and the clients' types, in environments of their own
	@$(PYTHON) scripts/formats_env.py
	UIGYM_FORMATS=.venv-formats/bin/python UIGYM_LLAMA_FACTORY=.venv-llamafactory/bin/python $(BIN)/python -m pytest -q tests/test_formats.py $(ARGS)

check: setup ## format, lint and types; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy -p uigym

bench: setup ## steps per second, latencies and CPU time per step on this machine
	$(BIN)/uigym bench env $(ARGS)

docs: setup ## make the guides' pictures again, and run every snippet
	$(BIN)/python scripts/docs_pictures.py
	$(BIN)/python -m pytest -q tests/test_docs.py

tiny-model: setup ## pretrain the tiny model on synthetic pages (GPU if there is one)
	$(BIN)/python -m uigym.models.tiny.pretrain --out uigym/models/tiny/checkpoint $(ARGS)

wheel: setup ## dist/uigym-*.whl, built through the source distribution
	$(BIN)/python -m build
