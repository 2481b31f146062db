# `make help` lists the targets.

CC      ?= cc
CXX     ?= c++
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
BUILD   ?= build
GEN     := build/gen
VERSION := $(shell sed -n 's/^\#define EDDY_VERSION "\(.*\)"/\1/p' graph/graph.h)
SOMAJOR := $(firstword $(subst ., ,$(VERSION)))
DATA    ?= digits
# V=1 shows the commands.
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' $(1))

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wswitch-enum -Werror
OPT     ?= -O3
CFLAGS  ?= -g
EDDY_CFLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L $(OPT) $(WARN) -fwrapv -ffp-contract=off \
           -fno-math-errno -fno-trapping-math -fvisibility=hidden -fPIC -pthread \
           -I. -Ibuild/include -MMD -MP
LIBS    := -lopenblas -lyaml -lm -pthread
CHECK_LIBS = $(shell pkg-config --libs check)

FOLDERS := graph ops autodiff layers optim session
SOURCES := $(sort $(foreach d,$(FOLDERS),$(wildcard $(d)/*.c))) $(GEN)/table.c
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
OPSRC   := $(sort $(wildcard ops/*.c))
HEADERS := eddy.h graph/graph.h graph/op.h ops/ops.h ops/math.h autodiff/autodiff.h \
           autodiff/functions.h autodiff/tape.h layers/initial.h layers/layers.h layers/attention.h \
           layers/recurrent.h optim/optim.h \
           optim/classic.h optim/modern.h optim/schedules.h optim/averages.h optim/wrappers.h \
           optim/lbfgs.h session/session.h autodiff/check.h
SUPPORT := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard examples/support/*.c)))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c)))
# The examples that say themselves whether they are right; digits runs in `make demo`.
SELF_CHECKING := $(filter-out $(BUILD)/examples/digits,$(EXAMPLES))
ROUND_TRIPS := $(EXAMPLES:$(BUILD)/examples/%=$(BUILD)/round_trip/%)
FUZZED  := npy safetensors graph
BENCHES := $(patsubst bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard bench/*.c)))
WORKLOADS := $(BUILD)/bench/workloads
OPSROWS := $(sort $(wildcard bench/ops/rows_*.c))
TESTS   := $(sort $(wildcard tests/*.c))
ROWS    := $(patsubst tests/rows_%.c,%,$(filter tests/rows_%,$(TESTS)))
SUITES  := $(patsubst tests/test_%.c,%,$(filter tests/test_%,$(TESTS)))

all: lib examples ## the library and the examples

lib: $(BUILD)/libeddy.a $(BUILD)/libeddy.so

# --- generated: the header of operations and the table of definitions -------
$(GEN)/stamp: $(OPSRC) ops/gen.awk
	@mkdir -p $(GEN) build/include docs
	@ln -sfn ../.. build/include/eddy
	@for m in header table_h table_c docs; do awk -v mode=$$m -f ops/gen.awk $(OPSRC) > $(GEN)/$$m.new || exit 1; done
	@cmp -s $(GEN)/header.new ops/ops.h || cp $(GEN)/header.new ops/ops.h
	@cmp -s $(GEN)/docs.new docs/ops.md || cp $(GEN)/docs.new docs/ops.md
	@cmp -s $(GEN)/table_h.new $(GEN)/table.h || cp $(GEN)/table_h.new $(GEN)/table.h
	@cmp -s $(GEN)/table_c.new $(GEN)/table.c || cp $(GEN)/table_c.new $(GEN)/table.c
	@touch $@
$(GEN)/table.c $(GEN)/table.h ops/ops.h docs/ops.md: $(GEN)/stamp ;

# The list of test suites: tests/test_NAME.c has NAME_suite().
$(GEN)/suites.h: FORCE
	@mkdir -p $(GEN)
	@{ echo '/* GENERATED from the names of tests/test_*.c. */'; \
	   echo '#ifndef EDDY_SUITES_H'; echo '#define EDDY_SUITES_H'; echo '#include <check.h>'; \
	   for s in $(SUITES); do echo "Suite *$${s}_suite(void);"; done; \
	   echo "#define EDDY_SUITES(X)$(foreach s,$(SUITES), X($(s)))"; echo '#endif'; } > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# The families of rows of the sweep: tests/rows_NAME.c has NAME_rows.
$(GEN)/rows.h: FORCE
	@mkdir -p $(GEN)
	@{ echo '/* GENERATED from the names of tests/rows_*.c. */'; \
	   echo '#ifndef EDDY_ROWS_H'; echo '#define EDDY_ROWS_H'; \
	   echo "#define EDDY_ROWS(X)$(foreach s,$(ROWS), X($(s)))"; echo '#endif'; } > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# The families of rows of `make bench-ops`: bench/ops/rows_NAME.c has NAME_ops.
$(GEN)/ops_rows.h: FORCE
	@mkdir -p $(GEN)
	@{ echo '/* GENERATED from the names of bench/ops/rows_*.c. */'; \
	   echo '#ifndef EDDY_OPS_ROWS_H'; echo '#define EDDY_OPS_ROWS_H'; \
	   echo "#define EDDY_OPS_ROWS(X)$(foreach s,$(OPSROWS:bench/ops/rows_%.c=%), X($(s)))"; \
	   echo '#endif'; } > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# --- the library -------------------------------------------------------------
$(BUILD)/obj/%.o: %.c | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(EDDY_CFLAGS) $(CFLAGS) -c $< -o $@

$(BUILD)/libeddy.a: $(OBJECTS)
	@rm -f $@
	$(call say,ar $@)
	$(Q)ar rcs $@ $(OBJECTS)

$(BUILD)/libeddy.so.$(VERSION): $(OBJECTS)
	$(call say,link $@)
	$(Q)$(CC) -shared -Wl,-z,defs -Wl,-soname,libeddy.so.$(SOMAJOR) $(OBJECTS) $(CFLAGS) $(LDFLAGS) -o $@ $(LIBS)

$(BUILD)/libeddy.so: $(BUILD)/libeddy.so.$(VERSION)
	@ln -sf libeddy.so.$(VERSION) $(BUILD)/libeddy.so.$(SOMAJOR)
	@ln -sf libeddy.so.$(SOMAJOR) $@

$(BUILD)/eddy.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: eddy' 'Description: static dataflow graphs with symbolic differentiation' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -leddy' \
	    'Libs.private: $(LIBS)' > $@

# --- programs ------------------------------------------------------------------
examples: $(EXAMPLES)
$(EXAMPLES): $(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(SUPPORT) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# The same programs, with every graph through a file and back.
WRAPPED := main eddy_session_new_with eddy_session_free eddy_run eddy_fetch eddy_restore \
           eddy_variable_set eddy_graph_free
$(ROUND_TRIPS): $(BUILD)/round_trip/%: $(BUILD)/obj/examples/%.o $(SUPPORT) \
                $(BUILD)/obj/tests/examples/round_trip.o $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(WRAPPED:%=-Wl,--wrap=%) $^ -o $@ $(LIBS)

$(BENCHES): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# Single operations.
$(BUILD)/obj/bench/ops/main.o: $(GEN)/ops_rows.h
$(BUILD)/bench/ops: $(BUILD)/obj/bench/ops/main.o $(OPSROWS:%.c=$(BUILD)/obj/%.o) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# Training steps; counts its allocations.
COUNTED := malloc calloc realloc aligned_alloc
$(WORKLOADS): $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard bench/workloads/*.c))) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(COUNTED:%=-Wl,--wrap=%) $^ -o $@ $(LIBS)

$(TESTS:%.c=$(BUILD)/obj/%.o): | $(GEN)/suites.h $(GEN)/rows.h
$(BUILD)/obj/tests/sweep_rows.o: $(GEN)/rows.h
$(BUILD)/obj/tests/main.o: $(GEN)/suites.h
$(BUILD)/run-tests: $(TESTS:%.c=$(BUILD)/obj/%.o) $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(CHECK_LIBS) $(LIBS)

tests: $(BUILD)/run-tests

$(BUILD)/fuzz/seeds: $(BUILD)/obj/tests/fuzz/seeds.o $(BUILD)/obj/tests/sweep_rows.o $(ROWS:%=$(BUILD)/obj/tests/rows_%.o) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
$(BUILD)/tables/catalogue: $(BUILD)/obj/tests/tables/catalogue.o $(BUILD)/obj/tests/sweep_rows.o $(ROWS:%=$(BUILD)/obj/tests/rows_%.o) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
$(FUZZED:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/fuzz_%.o \
                $(BUILD)/obj/tests/fuzz/fuzz.o $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) -fsanitize=fuzzer $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# --- what one calls --------------------------------------------------------------
setup: ## install what building needs (NEED=check or NEED=ci for more)
	@sh scripts/setup.sh $(or $(NEED),build)

demo: ## train on handwritten digits and show the result (DATA=fashion: Fashion-MNIST)
	@sh scripts/setup.sh build
	@$(MAKE) --no-print-directory $(BUILD)/examples/digits
	@$(BUILD)/examples/digits --data $(DATA) --out $(BUILD)/demo

# Programs that nothing here runs; they must build.
benches: $(BENCHES) $(WORKLOADS) $(BUILD)/bench/ops $(BUILD)/hostile

RUN_TESTS = sh scripts/tests.sh $(BUILD)/run-tests $(SUITES)
run-tests: $(BUILD)/run-tests
	@$(RUN_TESTS)

check: ## tests, examples, programs in the docs, headers
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory all tests benches
	@for e in $(SELF_CHECKING); do echo $$e; $$e > $$e.out || { cat $$e.out; exit 1; }; done
	@$(MAKE) --no-print-directory roundtrip
	@CC='$(CC)' BUILD='$(BUILD)' LIBS='$(LIBS)' sh scripts/docs.sh README.md docs/*.md
	@$(MAKE) --no-print-directory headers $(BUILD)/tables/catalogue
	@$(BUILD)/tables/catalogue | cmp - docs/catalogue.md || \
	    { echo 'docs/catalogue.md is not up to date: make catalogue'; exit 1; }
	@$(RUN_TESTS)

catalogue: $(BUILD)/tables/catalogue ## write docs/catalogue.md
	@$< > docs/catalogue.md

passes: tests ## random graphs with all passes, without some, and node by node (GRAPHS=20000)
	EDDY_GRAPHS=$(or $(GRAPHS),20000) CK_RUN_SUITE=passes $(BUILD)/run-tests

roundtrip: $(ROUND_TRIPS) ## the graphs of the examples written, read, and run to the same bits
	@for e in $(ROUND_TRIPS); do \
	    $$e --epochs 1 --out $(BUILD)/round_trip > $$e.out 2>&1 || { cat $$e.out; exit 1; }; \
	    tail -n 1 $$e.out; done

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize: ## tests and examples with AddressSanitizer, UBSan and leak check
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory BUILD=build/sanitize OPT=-O1 CFLAGS='-g $(SANITIZE)' sanitized
sanitized: $(EXAMPLES) tests
	@for e in $(SELF_CHECKING); do echo $$e; $$e > $$e.out || { cat $$e.out; exit 1; }; done
	@echo $(BUILD)/examples/digits
	@$(BUILD)/examples/digits --out $(BUILD)/demo > $(BUILD)/examples/digits.out
	@$(MAKE) --no-print-directory roundtrip
	@CK_FORK=no $(RUN_TESTS)

valgrind: ## tests under valgrind, less the cases tagged slow
	@sh scripts/setup.sh valgrind
	@$(MAKE) --no-print-directory BUILD=build/valgrind OPT=-O1 tests
	@CK_FORK=no CK_EXCLUDE_TAGS=slow OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 \
	    UNDER='valgrind -q --leak-check=full --error-exitcode=1' \
	    $(MAKE) --no-print-directory BUILD=build/valgrind run-tests

tsan: ## tests with ThreadSanitizer, less the cases tagged slow
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory BUILD=build/tsan OPT=-O1 CFLAGS='-g -fsanitize=thread' tests
	@CK_FORK=no CK_EXCLUDE_TAGS=slow OPENBLAS_NUM_THREADS=1 UNDER='setarch -R' \
	    TSAN_OPTIONS=allocator_may_return_null=1 \
	    $(MAKE) --no-print-directory BUILD=build/tsan run-tests

FUZZ_SECONDS ?= 60
FUZZ := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
fuzz: ## feed damaged files of each format to the readers (FUZZ_SECONDS=60 each; clang)
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null || \
	    { echo 'make fuzz needs clang with libFuzzer (Debian: clang, libclang-rt-dev)' >&2; exit 1; }
	@$(MAKE) --no-print-directory CC=clang BUILD=build/fuzz OPT=-O1 CFLAGS='-g $(FUZZ)' fuzzing
fuzzing: $(FUZZED:%=$(BUILD)/fuzz/%) $(BUILD)/fuzz/seeds
	@mkdir -p $(foreach f,$(FUZZED),$(BUILD)/seeds/$(f) $(BUILD)/corpus/$(f) $(BUILD)/found/$(f))
	@$(BUILD)/fuzz/seeds $(BUILD)/seeds
	@for f in $(FUZZED); do echo "fuzzing $$f for $(FUZZ_SECONDS) seconds"; \
	    OPENBLAS_NUM_THREADS=1 $(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
	        -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
	        -dict=$(BUILD)/seeds/words -artifact_prefix=$(BUILD)/found/$$f/ \
	        $(BUILD)/corpus/$$f $(BUILD)/seeds/$$f > $(BUILD)/$$f.log 2>&1 || \
	        { tail -n 60 $(BUILD)/$$f.log; exit 1; }; \
	    grep -E 'stat::(number_of_executed_units|new_units_added)|cov:' $(BUILD)/$$f.log | tail -n 3; \
	done

ROUNDS ?= 200
hostile: ## every builder with arguments at random, under the sanitizers (ROUNDS=200)
	@$(MAKE) --no-print-directory BUILD=build/sanitize OPT=-O1 CFLAGS='-g $(SANITIZE)' \
	    build/sanitize/hostile
	OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1 build/sanitize/hostile \
	    $(ROUNDS) 2> build/sanitize/hostile.err || { tail -n 40 build/sanitize/hostile.err; exit 1; }
BUILDERS := $(filter ops/ops.h layers/% optim/%,$(HEADERS))
$(GEN)/hostile.h: $(BUILDERS) tests/hostile/calls.awk
	@awk -f tests/hostile/calls.awk $(BUILDERS) > $@
$(BUILD)/obj/tests/hostile/hostile.o: $(GEN)/hostile.h
$(BUILD)/hostile: $(BUILD)/obj/tests/hostile/hostile.o $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

bench: $(WORKLOADS) ## training steps, in turns with PyTorch (BENCH='--quick mlp_b128 lstm': less of it)
	@sh scripts/bench.sh $(WORKLOADS) --out $(BUILD)/bench $(if $(BENCH),$(BENCH),--page)

bench-check: $(WORKLOADS) ## ... and compare with the ratios in bench/ratios.json
	@sh scripts/bench.sh $(WORKLOADS) --out $(BUILD)/bench --check $(BENCH)

instructions: $(WORKLOADS) ## count those of a step of each workload (UPDATE=1: keep the counts)
	@sh scripts/setup.sh valgrind
	@UPDATE='$(UPDATE)' sh scripts/instructions.sh $(WORKLOADS) bench/instructions.json $(BENCH)

bench-ops: $(BUILD)/bench/ops ## single operations, in turns with PyTorch (BENCH='--cpu tan sort': some of them)
	@python3 scripts/bench_ops.py $(BUILD)/bench/ops $(BENCH)

parts: $(BENCHES) ## measure kernels and the cost of nodes
	@for b in $(BENCHES); do $$b || exit 1; done

headers: $(BUILD)/libeddy.a ## every public header compiles alone, as C11 and as C++
	@CXX='$(CXX)' BUILD='$(BUILD)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' LIBS='$(LIBS)' \
	    sh scripts/headers.sh $(HEADERS)

style: ## what a machine can say about the sources
	@OPSRC='$(OPSRC)' sh scripts/style.sh
	@sh scripts/messages.sh
	@$(MAKE) --no-print-directory lib
	@nm -D --defined-only $(BUILD)/libeddy.so | awk '$$3 !~ /^eddy_/ { print "exported: " $$3; bad = 1 } END { exit bad }'
	@echo 'style: ok'

format: ## break the lines that are too long
	@sh scripts/format.sh

install: lib $(BUILD)/eddy.pc ## into $(DESTDIR)$(PREFIX)
	@for h in $(HEADERS); do install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/eddy/$$h || exit 1; done
	install -D -m 644 $(BUILD)/libeddy.a $(DESTDIR)$(LIBDIR)/libeddy.a
	install -D -m 755 $(BUILD)/libeddy.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libeddy.so.$(VERSION)
	ln -sf libeddy.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libeddy.so.$(SOMAJOR)
	ln -sf libeddy.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/libeddy.so
	install -D -m 644 $(BUILD)/eddy.pc $(DESTDIR)$(LIBDIR)/pkgconfig/eddy.pc

uninstall: ## what install put there
	rm -rf $(DESTDIR)$(PREFIX)/include/eddy
	rm -f $(DESTDIR)$(LIBDIR)/libeddy.* $(DESTDIR)$(LIBDIR)/pkgconfig/eddy.pc

clean: ## remove everything built
	rm -rf build $(filter-out build,$(BUILD))

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

-include $(OBJECTS:.o=.d) $(SUPPORT:.o=.d) $(wildcard $(BUILD)/obj/tests/*.d \
          $(BUILD)/obj/tests/*/*.d $(BUILD)/obj/examples/*.d \
          $(BUILD)/obj/bench/*.d $(BUILD)/obj/bench/*/*.d)
.PHONY: all lib examples tests benches setup demo check run-tests catalogue passes roundtrip sanitize \
        sanitized valgrind tsan fuzz fuzzing hostile bench bench-check bench-ops instructions \
        parts headers style format install uninstall clean help FORCE
.DELETE_ON_ERROR:
