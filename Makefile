# A fresh clone needs Python 3.11 or later.
#
#   make demo        install and show a first model from graph to source
#   make test        format, lint and type checks, then the tests
#   make test-slow   the tests marked slow
#   make types       mypy --strict
#   make docs        the pages, in docs/_build/html
#   make bench       the benchmarks, each in one run against its peers
#   make outside     every public reference case, in one table (docs/outside.md has the latest)
#   make outside-jags   JAGS and Platewright timed on the same BUGS cases
#   make attack      damaged files, kills, Ctrl-C, full disks and little memory: tries and hits (docs/edge.md)
#   make calibrate   simulation-based calibration of the samplers
#   make seeds       forty seeds of each of many models: silent errors, and coverage of intervals
#   make calibrate-evidence   calibration of Bayes factors
#   make mutants     plant every defect of the catalogue and see which tests notice (docs/mutants.md has the latest)
#   make random-models   20,000 random models against sums and integrals, with new seeds each time
#   make clean       remove what these made

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-slow types docs bench outside outside-jags attack calibrate calibrate-evidence seeds mutants random-models clean

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/installed
	$(RUN) -m platewright.demo

test: $(VENV)/installed-dev
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m pytest -n $(WORKERS) -m "not slow"

test-slow: $(VENV)/installed-dev
	HYPOTHESIS_PROFILE=thorough $(RUN) -m pytest -n $(WORKERS) -m slow

types: $(VENV)/installed-dev
	$(RUN) -m mypy

docs: $(VENV)/installed-docs
	$(RUN) -m sphinx --fail-on-warning --keep-going --quiet -b html -d docs/_build/doctrees docs docs/_build/html

bench: $(VENV)/installed-bench
	-$(RUN) benchmarks/exact.py
	-$(RUN) benchmarks/latent.py

OUTSIDE := PYTHONPATH=src:tests $(RUN) -m
CASES ?=

outside: $(VENV)/installed-dev
	$(OUTSIDE) outside.table $(CASES)

outside-jags: $(VENV)/installed-dev
	$(OUTSIDE) outside.jags_table $(CASES)

attack: $(VENV)/installed-dev
	$(OUTSIDE) attack.table $(CASES)

calibrate: $(VENV)/installed-dev
	$(OUTSIDE) calibration.posteriors $(CASES)

calibrate-evidence: $(VENV)/installed-dev
	$(OUTSIDE) calibration.evidence $(CASES)

seeds: $(VENV)/installed-dev
	$(OUTSIDE) calibration.seeds --workers $(WORKERS) $(CASES)

mutants: $(VENV)/installed-dev
	$(OUTSIDE) mutants.run --workers $(WORKERS) --page docs/mutants.md

MODELS ?= 20000

random-models: $(VENV)/installed-dev
	$(OUTSIDE) laws.many_models --count $(MODELS) --workers $(WORKERS)

clean:
	rm -rf $(VENV) docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache

# One empty file in the environment for each set of packages: pip runs again only when pyproject.toml changes.

$(RUN):
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(RUN)
	$(PIP) -e .
	@touch $@

$(VENV)/installed-%: pyproject.toml | $(RUN)
	$(PIP) -e ".[$*]"
	@touch $@
