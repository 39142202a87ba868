# SPDX-License-Identifier: Apache-2.0
# The front door. Each target does all its own set-up; `make help` lists them. Long steps print one line each and keep their
# output in a log, which is shown when they fail.
SHELL := /bin/bash
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
TESTS ?= .
SECONDS := 60

step := @tools/step
# Timing tests ask ctest to run them alone (RUN_SERIAL), so the rest may share the cores.
ctest := ctest --output-on-failure --no-tests=error -j $(JOBS)

# What runs under ThreadSanitizer: folders of tests/ whose code is shared between threads.
tsan := util gda proxy cx7/fabric cx7/hca
fuzz := packet_fuzz firmware_fuzz ioctl_fuzz faults_fuzz
empty :=
space := $(empty) $(empty)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the Debian packages that building needs, or say which they are
	@tools/setup build

build: tool ## set up, configure and build the tool, build/bin/marrow, and the page of its report where Node.js is
	@! grep -q '^MARROW_PAGE_NODE:.*=.' build/CMakeCache.txt || \
	  tools/step "making the page of marrow report" build/logs/page.log cmake --build build --target marrow_page
	@sed -n 's/^failed: /note: no page of marrow report: /p' build/report/installed.txt 2>/dev/null || true

tool: setup configure-build notes-build
	$(step) "building build/bin/marrow" build/logs/build.log cmake --build build -j $(JOBS) --target marrow

demo: tool ## build, then run four experiments of small writes end to end on the software NIC
	@build/bin/marrow run single-op ordering inline-payload timer-check --nic cx7-sim

check: setup-check configure-build notes-build ## build everything and run the tests; TESTS=regex narrows them
	$(step) "building the tool and the tests" build/logs/build-all.log cmake --build build -j $(JOBS)
	@$(ctest) --test-dir build -R '$(TESTS)'

check-pyverbs: setup-check configure-build ## rdma-core's own tests on the software NIC, both link layers
	$(step) "building the software NIC" build/logs/build.log cmake --build build -j $(JOBS) --target marrow marrow_cx7
	@$(ctest) --test-dir build -R '^witness_pyverbs'

sanitize: setup-check configure-build-asan notes-build-asan configure-build-tsan ## all tests under ASan and UBSan, engine, mini-gda and mini-proxy under TSan
	$(step) "building with ASan and UBSan" build-asan/logs/build.log cmake --build build-asan -j $(JOBS)
	@$(ctest) --test-dir build-asan -LE house
	$(step) "building with TSan" build-tsan/logs/build.log cmake --build build-tsan -j $(JOBS) --target $(tsan:%=tests/%/all)
	@$(ctest) --test-dir build-tsan -L '^($(subst $(space),|,$(tsan)))$$'

check-interop: setup-interop configure-build ## programs on the software NIC against Linux's soft-RoCE in a QEMU guest, both ways; 70 MB, once
	$(step) "building the software NIC" build/logs/build.log cmake --build build -j $(JOBS) --target marrow marrow_cx7
	@$(ctest) --test-dir build -R '^interop_'

fuzz: setup-tidy configure-build-fuzz ## give each target of tests/fuzz SECONDS=60 of libFuzzer's inputs, under ASan and UBSan
	$(step) "building the fuzz targets" build-fuzz/logs/build.log cmake --build build-fuzz -j $(JOBS) --target $(fuzz)
	@for target in $(fuzz); do mkdir -p build-fuzz/corpus/$$target; \
	  MARROW_LOG=off build-fuzz/bin/$$target -max_total_time=$(SECONDS) -max_len=2048 -len_control=0 -verbosity=0 -print_final_stats=1 \
	    build-fuzz/corpus/$$target || exit 1; done

format: setup-check ## rewrite the code as clang-format leaves it
	@tools/check_format --fix

tidy: setup-tidy configure-build-tidy ## run clang-tidy over the code
	$(step) "building under clang-tidy" build-tidy/logs/tidy.log cmake --build build-tidy -j $(JOBS) -- -k 0

clean: ## remove all build folders
	@rm -rf build build-asan build-tsan build-tidy build-fuzz

setup-check:
	@tools/setup check

setup-tidy:
	@tools/setup tidy

setup-interop:
	@tools/setup interop

# Always: it takes a second, and set-up may just have installed what an earlier run did not find.
preset-build := release
preset-build-asan := dev
preset-build-tsan := tsan
preset-build-tidy := tidy
preset-build-fuzz := fuzz
configure-%:
	$(step) "configuring $*" $*/logs/configure.log cmake --preset $(preset-$*)

# What is missing here and which tests it would add.
notes-%:
	@sed -n 's/^-- marrow: /note: /p' $*/logs/configure.log

# Set-up comes before configuring and that before building; the parallel part is Ninja's.
.NOTPARALLEL:
.PHONY: help setup build tool demo check check-pyverbs check-interop sanitize fuzz format tidy clean setup-check setup-tidy setup-interop
