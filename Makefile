# `make help` lists the targets.

CC      ?= cc
CXX     ?= c++
# For programs that run while building, where CC makes programs for another machine.
HOSTCC  ?= $(CC)
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
BUILD   ?= build
GEN     := build/gen
REFERENCE := build/docs/reference
VERSION := $(shell awk '/^.define EDDY_VERSION_(MAJOR|MINOR|PATCH) / { v = v s $$3; s = "." } \
             END { print v }' graph/status.h)
SOMAJOR := $(firstword $(subst ., ,$(VERSION)))
DATA    ?= digits
# V=1 shows the commands.
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' $(1))

# All processors, unless -j says otherwise.  Several goals come one after the other, since many
# of them call make for the same files.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wswitch-enum -Werror
OPT     ?= -O3
# With -O3, few variables remain for a debugger to show; debug information for lines and
# functions is enough and takes a seventh less time to compile.
CFLAGS  ?= $(if $(filter -O3,$(OPT)),-g1,-g)
# -O3 gains time in loops over numbers only, and takes longer to compile. Code that builds graphs and plans
# is as fast with -O1. Most tests are as fast with -O0, which compiles in half the time, since they wait for
# the library; COMPUTING are those that do not.
LOOPS    := session/compile/fused_loop.c session/run/run.c \
            ops/linear/einsum_products.c ops/linear/matmul.c ops/linear/matrix_exp.c \
            optim/minimizers/bounded_direction.c \
            $(patsubst %,ops/nets/%.c,batch_norm layer_norm lstm softmax_cross_entropy)
GRAPH_CODE := $(addsuffix /%,autodiff command control formats layers optim ops/formulas session/passes \
              tests $(GEN)/command) \
              $(patsubst %,ops/arrays/%.c,computed_% dynamic_partition embedding_lookup gradient_terms \
              one_hot_computed rearrange slice_notation) \
              $(patsubst %,graph/%.c,append collection copy_bodies gradient_overrides infer_types) \
              $(patsubst %,session/compile/%.c,check_access check_fused check_plan corrected_rounding fuse fused_checks \
              hoist ir liveness lower packed_operands parallel_groups plan program run_single_op schedule_nodes \
              specialize_shapes variable_order widen) \
              session/stages/stage_walk.c session/stages/dynamic_shapes.c session/state/draw_counts.c session/state/watches.c
COLD     := $(addsuffix /%,graph session input ops/linear ops/nets) ops/kernels/matmul/half_product.c
COMPUTING := tests/lib/% tests/fuzz/% tests/session/compile/test_placing.c \
            $(patsubst %,tests/formats/test_%.c,reader_memory training_report) \
            $(patsubst %,tests/ops/%.c,test_bfloat16_pairs test_row_bits math/test_vector_math signal/test_fft nets/test_conv \
            $(patsubst %,linear/test_%,product_blocks lapack_blocks matmul_fused))
LEVEL_OF = $(or $(if $(filter $(LOOPS),$1),-O3),$(if $(filter-out $(COMPUTING),$(filter $(TESTS),$1)),-O0),$(if $(filter $(GRAPH_CODE),$1),-O1),$(if $(filter $(COLD),$1),-O2),-O3)
# With sanitizers, tests take twice as long to compile with -O1 as with -O0, and loops that are unrolled
# by hand up to four minutes; gcc takes half a minute for the tiles of products, with which the examples
# under sanitizers spend most of their time. Four more files, one of which takes 20 s with -O1 and 2 with
# -O0, lose a tenth of the time of tests with fused loops. NOT_OPTIMIZED: patterns of other files.
UNROLLED := $(patsubst %,ops/kernels/convolution/conv_tiles_%.c,plain avx2 avx512 bfloat16) \
            ops/math/fused_elementwise.c \
            $(patsubst %,ops/kernels/%.c,matmul/quantized_tiles pooling/pool_windows convolution/depthwise_conv) \
            $(if $(findstring clang,$(CC)),$(patsubst %,ops/kernels/%.c,matmul/gemm_tiles matmul/gemm_dots))
SLOW_TO_COMPILE := $(if $(findstring -fsanitize=,$(CFLAGS)),tests/% $(UNROLLED))
OPT_OF   = $(if $(filter $(SLOW_TO_COMPILE) $(NOT_OPTIMIZED),$1),-O0,$(OPT:-O3=$(LEVEL_OF)))
# Loops for AVX-512 for the elements that remain, which some files have many of, take space only.
ONE_EPILOGUE := ops/math/cast.c ops/math/exponentials.c
ONE_EPILOGUE_FLAGS := $(shell $(CC) -Werror --param vect-epilogues-nomask=0 -xc -E /dev/null > /dev/null 2>&1 && echo --param vect-epilogues-nomask=0)
# Loops of products that begin within a line of the code cache take up to a tenth longer.
IN_LINES := ops/kernels/matmul/gemm_tiles.c ops/kernels/matmul/gemm_dots.c
IN_LINES_FLAGS := $(shell $(CC) -Werror -falign-loops=64 -xc -E /dev/null > /dev/null 2>&1 && echo -falign-loops=64)
# Where `long` has 32 bits, files of more than 2 GiB and their numbers need larger types.
LARGE_FILES := $(if $(filter 4,$(shell echo __SIZEOF_LONG__ | $(CC) $(CFLAGS) -E -P - 2>/dev/null)),-D_FILE_OFFSET_BITS=64)
EDDY_CFLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L $(LARGE_FILES) $(WARN) -fwrapv -ffp-contract=off \
           -fno-math-errno -fno-trapping-math -fvisibility=hidden -fPIC -pthread \
           -I. -Ibuild/include -MMD -MP
LIBS    := -lopenblas -lyaml -lm -pthread
CHECK_LIBS = $(shell pkg-config --libs check)

FOLDERS := graph ops autodiff control layers optim session report
SOURCES := $(sort $(shell find $(FOLDERS) -name '*.c')) $(GEN)/table.c $(GEN)/weak_ops.c
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
OPSRC   := $(filter ops/%,$(SOURCES)) control/definitions.c control/tensor_array_ops.c
# Generated: a header for the operations of each folder, and one for those in none.
OPS_IN  := $(filter-out ops/kernels/%,$(filter ops/%,$(SOURCES)))
OPS_DIRS := $(filter-out ops,$(sort $(patsubst %/,%,$(dir $(OPS_IN)))))
OPS_H   := $(OPS_DIRS:%=%.h) ops/graphs.h
HEADERS := eddy.h graph/options.h graph/defaults.h graph/status.h graph/array.h graph/graph.h graph/op.h graph/lines.h $(OPS_H) ops/ops.h ops/short_names.h \
           autodiff/autodiff.h autodiff/functions.h autodiff/compute_again.h autodiff/tape.h autodiff/check/gradient_check.h \
           autodiff/sparse/sparse.h \
           control/control.h control/tensor_array.h control/solvers.h autodiff/jacobians/jacobians.h \
           layers/initial.h layers/batch_moments.h layers/variable_creator.h layers/layers.h layers/attention.h layers/attention_cache.h layers/recurrent.h \
           layers/rnn.h layers/rnn_cells.h layers/rnn_weights.h layers/beam_search.h \
           layers/generate.h \
           optim/optim.h optim/variable_parts.h optim/mixed_precision.h optim/rules/tf_train.h optim/rules/adaptive.h optim/rules/parameter_free.h \
           optim/schedules/schedules.h \
           optim/wrappers/averages.h optim/wrappers/wrappers.h optim/minimizers/minimizers.h \
           session/session.h session/watch.h session/checkpoint.h session/extract.h report/progress.h report/plot.h
# Readers of other programs' files: a library of its own, which uses only the public interface.
FORMATS := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(shell find formats -name '*.c')))
FORMATS_H := formats.h formats/formats.h formats/events.h
# Pipelines of training data and readers of data files, likewise. Readers whose library is missing are
# built without it, and say so when they are called.
INPUT   := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(shell find input -name '*.c')))
INPUT_H := input.h input/dataset.h input/readers.h
HAS_LIBRARY = $(shell echo 'int main(void) { return 0; }' | $(CC) $(filter-out --coverage,$(CFLAGS)) $(LDFLAGS) -x c - -o /dev/null -l$1 2>/dev/null && echo -l$1)
INPUT_LIBS = $(foreach l,z png jpeg,$(call HAS_LIBRARY,$l))
# Training with several ranks, likewise; and, where MPI is, its transport over MPI, which `make lib`
# does not need.
DISTRIBUTED := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard distributed/*.c)))
DISTRIBUTED_H := distributed.h distributed/communicator.h distributed/collectives.h distributed/parallel_layers.h distributed/sync_batch_norm.h distributed/training.h distributed/transport.h
MPI     := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard distributed/mpi/*.c)))
MPI_H   := distributed/mpi/mpi_ranks.h
MPICC   ?= mpicc
# The program `eddy`, which uses only the public interface of the first three libraries.
COMMAND := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(shell find command -name '*.c')) $(GEN)/command/calls.c)
SUPPORT := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard examples/support/*.c)))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c)))
# The examples that check their own results; digits runs in `make demo`, and infer reads its file.
SELF_CHECKING := $(filter-out $(BUILD)/examples/digits $(BUILD)/examples/infer,$(EXAMPLES))
ROUND_TRIPS := $(filter-out %/infer,$(EXAMPLES:$(BUILD)/examples/%=$(BUILD)/round_trip/%))
FUZZED  := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# Formats with a mutator of their own (tests/fuzz/mutate.h), and those whose messages are crossed.
MUTATED := bundle events graph index keras npy npz onnx safetensors tensorflow torch
CROSSED := onnx tensorflow
BENCHES := $(patsubst bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard bench/*.c)))
WORKLOADS := $(BUILD)/bench/workloads
OPSROWS := $(sort $(wildcard bench/ops/rows_*.c))
# Suites and rows mirror the folders of the library; tests/lib/ has what they share.
# The suite `corpus` calls the fuzzed readers.
TESTS   := $(sort tests/main.c $(filter-out %/write_seeds.c,$(wildcard tests/fuzz/*.c)) \
           $(shell find tests/lib tests/formats tests/input tests/distributed $(FOLDERS:%=tests/%) -name '*.c'))
NAMES   := $(basename $(notdir $(TESTS)))
ROWS    := $(patsubst rows_%,%,$(filter rows_%,$(NAMES)))
ROWSRC  := $(foreach t,$(TESTS),$(if $(filter rows_%,$(notdir $(t))),$(t)))
ROWOBJ   = $(ROWSRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/tests/lib/sweep_rows.o
SUITES  := $(patsubst test_%,%,$(filter test_%,$(NAMES)))

all: lib examples command ## build the library, the program eddy and the examples

LIBRARIES := libeddy libeddy_formats libeddy_input libeddy_distributed
lib: $(LIBRARIES:%=$(BUILD)/%.a) $(LIBRARIES:%=$(BUILD)/%.so)

# --- generated: the header of operations and the table of definitions -------
# A header whose #line alone changed is kept: nearly everything includes it and would be compiled
# again. Until its text changes, the compiler may name a line nearby in an option struct.
# Where structs of options are.
OPTIONS := $(OPSRC) $(filter-out $(OPS_H) graph/defaults.h,$(HEADERS)) $(FORMATS_H) $(INPUT_H) $(DISTRIBUTED_H) $(MPI_H)
$(GEN)/stamp: $(OPTIONS) ops/gen.awk ops/declared.awk graph/op.h graph/defaults.awk graph/call_lines.awk
	@mkdir -p $(GEN) build/include
	@ln -sfn ../.. build/include/eddy
	@for m in table_h table_c weak_ops_h weak_ops_c; do awk -v mode=$$m -f ops/declared.awk -f ops/gen.awk $(OPSRC) > $(GEN)/$$m.new || exit 1; done
	@for h in $(OPS_H); do f=$$(basename $$h .h); [ -d ops/$$f ] && in=ops/$$f || in=ops; \
	    awk -v mode=header -v folder=$$f -f ops/declared.awk -f ops/gen.awk $$in/*.c > $(GEN)/$$f.new || exit 1; \
	    sed '/^#line/d' $(GEN)/$$f.new > $(GEN)/$$f.text; \
	    { [ -f $$h ] && sed '/^#line/d' $$h | cmp -s - $(GEN)/$$f.text; } || cp $(GEN)/$$f.new $$h; done
	@for m in defaults members; do awk -v mode=$$m -f graph/defaults.awk $(OPTIONS) > $(GEN)/$$m.new || exit 1; done
	@cmp -s $(GEN)/defaults.new graph/defaults.h || cp $(GEN)/defaults.new graph/defaults.h
	@cmp -s $(GEN)/members.new $(GEN)/option_members.h || cp $(GEN)/members.new $(GEN)/option_members.h
	@awk -f graph/call_lines.awk $(filter-out graph/defaults.h,$(HEADERS)) > $(GEN)/call_lines.new
	@cmp -s $(GEN)/call_lines.new graph/call_lines.h || cp $(GEN)/call_lines.new graph/call_lines.h
	@for m in table_h table_c weak_ops_h weak_ops_c; do f=$(GEN)/$${m%_?}.$${m##*_}; \
	    cmp -s $(GEN)/$$m.new $$f || cp $(GEN)/$$m.new $$f; done
	@touch $@
$(GEN)/table.c $(GEN)/table.h $(GEN)/weak_ops.c $(GEN)/weak_ops.h $(OPS_H) \
        graph/defaults.h graph/call_lines.h $(GEN)/option_members.h: $(GEN)/stamp ;

# The page of reports as lines of text: page.html with the style sheet and the script in their places.
$(GEN)/report_page.h: $(addprefix formats/training_report/page.,html css js) formats/training_report/page.awk
	@mkdir -p $(GEN)
	@awk -f formats/training_report/page.awk formats/training_report/page.html > $@
$(BUILD)/obj/formats/training_report/report.o: $(GEN)/report_page.h

# The calls that a configuration of `eddy train` can name.
$(GEN)/command/calls.c: command/train/calls.awk $(GEN)/interface.json
	@mkdir -p $(@D)
	@awk -f command/train/calls.awk $(GEN)/interface.json > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# The list of test suites: tests/FOLDER/test_NAME.c has NAME_suite().
$(GEN)/suites.h: FORCE
	@mkdir -p $(GEN)
	@{ echo '/* GENERATED from the names of the files test_*.c. */'; \
	   echo '#ifndef EDDY_SUITES_H'; echo '#define EDDY_SUITES_H'; echo '#include <check.h>'; \
	   for s in $(SUITES); do echo "Suite *$${s}_suite(void);"; done; \
	   echo "#define EDDY_SUITES(X)$(foreach s,$(SUITES), X($(s)))"; echo '#endif'; } > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# The families of rows of the sweep: tests/FOLDER/rows_NAME.c has NAME_rows.
$(GEN)/rows.h: FORCE
	@mkdir -p $(GEN)
	@{ echo '/* GENERATED from the names of the files rows_*.c. */'; \
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
$(OBJECTS): EDDY_CFLAGS += -DEDDY_INSIDE
# The tables of operators leave out members that most rows do not need.
$(FORMATS): EDDY_CFLAGS += -Wno-missing-field-initializers
$(BUILD)/obj/%.o: %.c | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(EDDY_CFLAGS) $(call OPT_OF,$<) $(if $(filter $(ONE_EPILOGUE),$<),$(ONE_EPILOGUE_FLAGS)) \
	      $(if $(filter $(IN_LINES),$<),$(IN_LINES_FLAGS)) $(CFLAGS) -c $< -o $@

# A plugin linked from the archive exports none of its symbols.
$(BUILD)/hide_symbols: scripts/hide_symbols.c
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=c11 -O1 $(WARN) $< -o $@

$(BUILD)/libeddy.a: $(OBJECTS)
$(BUILD)/libeddy_formats.a: $(FORMATS)
$(BUILD)/libeddy_input.a: $(INPUT)
$(BUILD)/libeddy_distributed.a: $(DISTRIBUTED)
$(LIBRARIES:%=$(BUILD)/%.a): $(BUILD)/hide_symbols
	@rm -f $@
	$(call say,ar $@)
	$(Q)ar rcs $@ $(filter %.o,$^) && $(BUILD)/hide_symbols $@ || { rm -f $@; exit 1; }

$(BUILD)/libeddy.so.$(VERSION): $(OBJECTS)
	$(call say,link $@)
	$(Q)$(CC) -shared -Wl,-z,defs -Wl,-soname,libeddy.so.$(SOMAJOR) $(OBJECTS) $(CFLAGS) $(LDFLAGS) -o $@ $(LIBS)

$(BUILD)/libeddy_formats.so.$(VERSION): $(FORMATS)
$(BUILD)/libeddy_input.so.$(VERSION): $(INPUT)
$(BUILD)/libeddy_distributed.so.$(VERSION): $(DISTRIBUTED)
$(BUILD)/libeddy_input.so.$(VERSION): EXTRA_LIBS = $(INPUT_LIBS) -pthread
$(patsubst %,$(BUILD)/%.so.$(VERSION),$(filter-out libeddy,$(LIBRARIES))): $(BUILD)/libeddy.so
	$(call say,link $@)
	$(Q)$(CC) -shared -Wl,-z,defs -Wl,-soname,$(@F:.$(VERSION)=.$(SOMAJOR)) $(filter %.o,$^) $(CFLAGS) $(LDFLAGS) -o $@ \
	    -L$(BUILD) -leddy $(EXTRA_LIBS) -lm -Wl,-rpath,'$$ORIGIN'

$(LIBRARIES:%=$(BUILD)/%.so) $(BUILD)/libeddy_mpi.so: %: %.$(VERSION)
	@ln -sf $(@F).$(VERSION) $@.$(SOMAJOR)
	@ln -sf $(@F).$(SOMAJOR) $@

$(BUILD)/eddy.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: eddy' 'Description: static dataflow graphs with symbolic differentiation' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -leddy' \
	    'Libs.private: $(LIBS)' > $@

$(BUILD)/eddy-formats.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: eddy-formats' 'Description: readers of model files of other programs, for Eddy' \
	    'Version: $(VERSION)' 'Requires: eddy = $(VERSION)' 'Libs: -L$${libdir} -leddy_formats' > $@

$(BUILD)/eddy-input.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: eddy-input' 'Description: pipelines of training data and readers of data files, for Eddy' \
	    'Version: $(VERSION)' 'Requires: eddy = $(VERSION)' 'Libs: -L$${libdir} -leddy_input' \
	    'Libs.private: -Wl,--as-needed $(INPUT_LIBS) -Wl,--no-as-needed' > $@

$(BUILD)/eddy-distributed.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: eddy-distributed' 'Description: training with several ranks, for Eddy' \
	    'Version: $(VERSION)' 'Requires: eddy = $(VERSION)' 'Libs: -L$${libdir} -leddy_distributed' \
	    'Libs.private: -pthread' > $@

$(BUILD)/eddy-mpi.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: eddy-mpi' 'Description: ranks that are processes of an MPI program, for Eddy' \
	    'Version: $(VERSION)' 'Requires: eddy-distributed = $(VERSION)' \
	    'Libs: -L$${libdir} -leddy_mpi' 'Libs.private: $(MPI_LIBS)' > $@

# The same for CMake's find_package; the installed folder may be moved.
empty :=
IN_CMAKE = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@SOMAJOR@|$(SOMAJOR)|' \
           -e 's|@LIBS@|$(subst $(empty) ,;,$(strip $(LIBS)))|' \
           -e 's|@INPUT_LIBS@|$(subst $(empty) ,;,$(strip $(INPUT_LIBS)))|' \
           -e "s|@TO_PREFIX@|$$(realpath -m --relative-to='$(LIBDIR)/cmake/eddy' '$(PREFIX)')|"
$(BUILD)/cmake/%.cmake: scripts/%.cmake.in FORCE
	@mkdir -p $(@D)
	@$(IN_CMAKE) $< > $@
# That of MPI only where `make machines` has built it.
HAS_MPI = $(wildcard $(BUILD)/libeddy_mpi.so)
PC_FILES = $(patsubst %,$(BUILD)/%.pc,eddy eddy-formats eddy-input eddy-distributed $(if $(HAS_MPI),eddy-mpi))
CMAKE_FILES := $(BUILD)/cmake/eddy-config.cmake $(BUILD)/cmake/eddy-config-version.cmake

# --- MPI -------------------------------------------------------------------------
MPI_CC   = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)
MPI_LIBS = $(filter -L% -l% -Wl%,$(shell $(MPICC) -show 2>/dev/null))
$(MPI): $(BUILD)/obj/%.o: %.c | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,mpicc $<)
	$(Q)$(MPI_CC) $(EDDY_CFLAGS) $(OPT_OF) $(CFLAGS) -c $< -o $@

$(BUILD)/libeddy_mpi.a: $(MPI) $(BUILD)/hide_symbols
	@rm -f $@
	$(call say,ar $@)
	$(Q)ar rcs $@ $(MPI) && $(BUILD)/hide_symbols $@ || { rm -f $@; exit 1; }

$(BUILD)/libeddy_mpi.so.$(VERSION): $(MPI) $(BUILD)/libeddy_distributed.so
	$(call say,link $@)
	$(Q)$(MPI_CC) -shared -Wl,-z,defs -Wl,-soname,$(@F:.$(VERSION)=.$(SOMAJOR)) $(MPI) $(CFLAGS) $(LDFLAGS) -o $@ \
	    -L$(BUILD) -leddy_distributed -leddy -Wl,-rpath,'$$ORIGIN'

# The programs of ranks, and the digits with the change that docs/guide/machines.md shows.
MPI_TESTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tests/mpi/*.c tests/lib/ranks/*.c)))
$(BUILD)/mpi/ranks: $(MPI_TESTS)
$(BUILD)/mpi/ranks: LDFLAGS += -Wl,--wrap=calloc
$(BUILD)/mpi/digits: $(BUILD)/mpi/digits.o $(SUPPORT) $(BUILD)/libeddy_input.a $(BUILD)/libeddy_formats.a
$(BUILD)/mpi/ranks $(BUILD)/mpi/digits: $(BUILD)/libeddy_mpi.a $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(MPI_CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter-out %/libeddy.a,$(filter %.a,$^)) \
	    $(BUILD)/libeddy.a -o $@ $(INPUT_LIBS) $(LIBS)
$(BUILD)/mpi/digits.c: examples/digits.c docs/guide/machines.md
	@mkdir -p $(@D)
	@sed -n '/^```diff$$/,/^```$$/{/^```/!p}' docs/guide/machines.md | patch -s -o $@ examples/digits.c
$(BUILD)/mpi/digits.o: $(BUILD)/mpi/digits.c
	$(Q)$(MPI_CC) $(EDDY_CFLAGS) -O2 $(CFLAGS) -Iexamples -c $< -o $@

$(BUILD)/obj/tests/mpi/main.o $(BUILD)/obj/bench/ranks/ranks.o: $(BUILD)/obj/%.o: %.c | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,mpicc $<)
	$(Q)$(MPI_CC) $(EDDY_CFLAGS) -O2 $(CFLAGS) -c $< -o $@
$(BUILD)/bench/ranks: $(BUILD)/obj/bench/ranks/ranks.o $(BUILD)/libeddy_mpi.a $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(MPI_CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# The same program and transport over SMPI, which simulates MPI; simulated_kernels.c says what passes
# through it.
SMPI      := $(patsubst %.c,$(BUILD)/smpi/%.o,bench/ranks/ranks.c $(wildcard distributed/mpi/*.c))
SMPI_WRAP := eddy__plan_run eddy__combine eddy_broadcast_variables eddy_communicator_free memcpy MPI_Init_thread MPI_Irecv MPI_Isend MPI_Test \
             eddy__running_begin eddy__running_end MPI_Comm_dup MPI_Iprobe pthread_create pthread_join pthread_mutex_lock \
             pthread_cond_wait pthread_cond_timedwait
SIMULATED := $(BUILD)/smpi/simulated_kernels.o $(BUILD)/smpi/simulated_threads.o
$(SMPI): $(BUILD)/smpi/%.o: %.c | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,smpi $<)
	$(Q)smpicc $(filter-out -Wpedantic -Werror,$(EDDY_CFLAGS)) -O2 -fvisibility=default -DSMPI_NO_OVERRIDE_MALLOC $(CFLAGS) -c $< -o $@
$(SIMULATED): $(BUILD)/smpi/%.o: bench/scale/%.c bench/scale/simulated_ranks.h | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(EDDY_CFLAGS) -O2 -fno-builtin-memcpy $(CFLAGS) -c $< -o $@
$(BUILD)/bench/simulated_ranks: $(SMPI) $(SIMULATED) $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)smpicc $(CFLAGS) $(LDFLAGS) $(SMPI_WRAP:%=-Wl,--wrap=%) $^ -o $@ $(LIBS)

$(BUILD)/bench/plot_scale: $(BUILD)/obj/bench/scale/plot.o $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# --- programs ------------------------------------------------------------------
command: $(BUILD)/eddy
$(BUILD)/eddy: $(COMMAND) $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy_input.a $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(INPUT_LIBS) $(LIBS)

examples: $(EXAMPLES)
$(EXAMPLES): $(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(SUPPORT) $(BUILD)/libeddy_input.a \
                $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(INPUT_LIBS) $(LIBS)

# The same programs, with every graph written to a file and read back.
WRAPPED := main eddy_session_new_with eddy_session_free eddy_run eddy_restore \
           eddy_restore_checkpoint_with eddy_variable_set eddy_graph_free
$(ROUND_TRIPS): $(BUILD)/round_trip/%: $(BUILD)/obj/examples/%.o $(SUPPORT) \
                $(BUILD)/obj/tests/examples/round_trip.o $(BUILD)/libeddy_input.a $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(WRAPPED:%=-Wl,--wrap=%) $^ -o $@ $(INPUT_LIBS) $(LIBS)

$(BENCHES): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o %/libeddy_input.a %/libeddy_formats.a,$^) $(BUILD)/libeddy.a -o $@ $(LIBS)

$(BUILD)/bench/input: $(BUILD)/libeddy_input.a
$(BUILD)/bench/input: LIBS += $(INPUT_LIBS)
$(BUILD)/bench/inference: $(BUILD)/libeddy_formats.a

# Single operations.
$(BUILD)/obj/bench/ops/main.o: $(GEN)/ops_rows.h
$(BUILD)/bench/ops: $(BUILD)/obj/bench/ops/main.o $(OPSROWS:%.c=$(BUILD)/obj/%.o) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# Runs that are stopped, with the models of workloads.
CANCEL := $(BUILD)/bench/cancel
$(CANCEL): $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard bench/cancel/*.c)) \
                $(addprefix bench/workloads/,data.c dense.c images.c pointwise.c text.c trial.c)) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# Training steps; allocations are counted.
COUNTED := malloc calloc realloc aligned_alloc posix_memalign
$(WORKLOADS): $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard bench/workloads/*.c))) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(COUNTED:%=-Wl,--wrap=%) $^ -o $@ $(LIBS)

$(TESTS:%.c=$(BUILD)/obj/%.o): | $(GEN)/suites.h $(GEN)/rows.h
$(BUILD)/obj/tests/lib/sweep_rows.o: $(GEN)/rows.h
$(BUILD)/obj/tests/main.o: $(GEN)/suites.h
# Functions that allocations.c, tests/lib/marks.c, tests/lib/left_over.c and
# tests/formats/test_training_report.c replace.
REPLACED := $(COUNTED) _mark_point tcase_create pthread_create pthread_join opendir
REPLACED := $(REPLACED:%=-Wl,--wrap=%)
# TESTS_OF=build takes the objects of tests from that build, which `make tests` must have brought up to
# date before: no rule here makes them. Those that behave otherwise under AddressSanitizer are compiled
# again. `.ci/run` compiles the others once, and runs them with both libraries.
TESTS_OF = $(BUILD)
DIFFERENT_TESTS := $(if $(filter command line,$(origin TESTS_OF)),$(shell grep -lE 'base/sanitizer\.h|__SANITIZE_' $(TESTS)))
TEST_OBJECTS = $(DIFFERENT_TESTS:%.c=$(BUILD)/obj/%.o) $(patsubst %.c,$(TESTS_OF)/obj/%.o,$(filter-out $(DIFFERENT_TESTS),$(TESTS)))
$(BUILD)/run-tests: $(TEST_OBJECTS) $(BUILD)/obj/bench/workloads/allocations.o $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy_input.a $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(REPLACED) $^ -o $@ $(CHECK_LIBS) $(INPUT_LIBS) $(LIBS)

objects: $(OBJECTS) $(FORMATS) $(INPUT) $(DISTRIBUTED) $(COMMAND) $(SUPPORT) $(TESTS:%.c=$(BUILD)/obj/%.o) \
         $(EXAMPLES:$(BUILD)/%=$(BUILD)/obj/%.o)

tests: $(BUILD)/run-tests

$(BUILD)/mixed_runs: $(BUILD)/obj/tests/threads/main.o $(BUILD)/obj/tests/lib/mixed_runs.o $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# The suites of tests/distributed alone, for `make threads`.
RANK_TESTS := $(sort $(wildcard tests/distributed/test_*.c))
RANK_SUITES := $(patsubst tests/distributed/test_%.c,%,$(RANK_TESTS))
RANK_SHARED := $(sort $(wildcard tests/lib/ranks/*.c)) tests/lib/golden.c tests/lib/files/memory_files.c
$(BUILD)/rank_suites: tests/main.c $(patsubst %.c,$(BUILD)/obj/%.o,$(RANK_TESTS) $(RANK_SHARED)) \
                $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy_input.a $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(EDDY_CFLAGS)) $(CFLAGS) $(LDFLAGS) \
	    -D'MAIN_SUITES(X)=$(foreach s,$(RANK_SUITES),X($(s)))' $^ -o $@ $(CHECK_LIBS) $(INPUT_LIBS) $(LIBS)

NODE_MODELS := $(addprefix files/,onnx_node_models tensorflow_node_models tensorflow_text_graphs node_cases onnx_writer tensorflow_writer)
$(BUILD)/fuzz/write_seeds: $(BUILD)/obj/tests/fuzz/write_seeds.o $(NODE_MODELS:%=$(BUILD)/obj/tests/lib/%.o) $(ROWOBJ) \
                $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
$(BUILD)/tables/catalog: $(BUILD)/obj/tests/tables/catalog.o $(ROWOBJ) $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
$(BUILD)/tables/onnx $(BUILD)/tables/onnx_page: $(BUILD)/tables/%: $(BUILD)/obj/tests/tables/%.o $(BUILD)/obj/tests/lib/files/onnx_cases.o \
                $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
LIBFUZZER = -fsanitize=fuzzer -Xlinker --defsym=LLVMFuzzerTestOneInput=fuzz_$1 \
    $(if $(filter $1,$(MUTATED)),-Xlinker --defsym=LLVMFuzzerCustomMutator=mutate_$1) \
    $(if $(filter $1,$(CROSSED)),-Xlinker --defsym=LLVMFuzzerCustomCrossOver=cross_protobuf)
MUTATORS := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tests/fuzz/mutate*.c)))
$(MUTATORS): override CFLAGS += $(NOT_FUZZED)
$(FUZZED:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/fuzz_%.o \
                $(BUILD)/obj/tests/fuzz/fuzz.o $(MUTATORS) $(BUILD)/obj/tests/lib/files/onnx_writer.o \
                $(BUILD)/obj/tests/lib/files/tensorflow_writer.o $(BUILD)/libeddy_input.a \
                $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(call LIBFUZZER,$(@F)) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(INPUT_LIBS) $(LIBS)

# Calls of the library without memory, on failing disks, in processes that are killed.
TORTURES := memory files
TORTURE_SAVERS := savers real_savers disk system_calls
TORTURE_SCENARIOS := $(filter-out %/memory.c %/files.c $(addprefix %/,$(addsuffix .c,$(TORTURE_SAVERS))),$(sort $(wildcard tests/torture/*.c)))
TORTURE_LIB := control_models training_rows datasets files/event_files files/onnx_cases \
    files/onnx_odd_models files/memory_files $(NODE_MODELS)
TORTURE_SHARED = $(TORTURE_LIB:%=$(BUILD)/obj/tests/lib/%.o) $(ROWOBJ)
# Functions that tests/torture/system_calls.c replaces.
SYSTEM_CALLS := open close read write fstat fsync mmap rename unlink mkdir opendir
# In the place of the library's: each piece of memory that a reader takes is an allocation, and each
# item of an arena.
SMALL := small_blocks small_chunks
TORTURE_MEMORY := $(TORTURE_SCENARIOS:%.c=$(BUILD)/obj/%.o) $(SMALL:%=$(BUILD)/obj/tests/torture/%.o)
$(BUILD)/torture/memory: $(TORTURE_MEMORY)
$(BUILD)/obj/tests/torture/small_blocks.o: formats/region.c
$(BUILD)/obj/tests/torture/small_chunks.o: graph/base/memory.c
$(SMALL:%=$(BUILD)/obj/tests/torture/%.o): | $(GEN)/stamp
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(EDDY_CFLAGS) $(CFLAGS) -DEDDY_SMALL_BLOCKS -c $< -o $@
$(BUILD)/torture/files: $(TORTURE_SAVERS:%=$(BUILD)/obj/tests/torture/%.o)
$(BUILD)/torture/files: WRAP = $(SYSTEM_CALLS:%=-Wl,--wrap=%)
$(TORTURES:%=$(BUILD)/torture/%): $(BUILD)/torture/%: $(BUILD)/obj/tests/torture/%.o \
                $(TORTURE_SHARED) $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy_input.a $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(WRAP) $(filter %.o,$^) $(filter %.a,$^) -o $@ $(CHECK_LIBS) $(INPUT_LIBS) $(LIBS) -ldl

# --- commands ---------------------------------------------------------------------
setup: ## install the packages that the build needs (NEED=check or NEED=ci: more)
	@sh scripts/setup.sh $(or $(NEED),build)

demo: ## train on handwritten digits and show the result (DATA=fashion: Fashion-MNIST)
	@sh scripts/setup.sh build
	@$(MAKE) --no-print-directory $(BUILD)/examples/digits $(BUILD)/examples/infer
	@$(BUILD)/examples/digits --data $(DATA) --out $(BUILD)/demo
	@$(BUILD)/examples/infer --data $(DATA) --out $(BUILD)/demo

# These programs must build, although no target runs them.
benches: $(BENCHES) $(WORKLOADS) $(CANCEL) $(BUILD)/bench/ops $(BUILD)/hostile

RUN_TESTS = sh scripts/tests.sh $(BUILD)/run-tests $(SUITES)
run-tests: $(BUILD)/run-tests
	@$(RUN_TESTS)

check: ## run all tests, examples and programs in the documentation
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory all tests benches
	@$(MAKE) --no-print-directory self-checking read-back torture-quick pages transcripts size headers packages docs bindings gdb
	@$(RUN_TESTS)

# What the tests do not need runs several at a time, as many as make has jobs.
self-checking: $(SELF_CHECKING:%=%.ran)
$(SELF_CHECKING:%=%.ran): %.ran: %
	@echo $<
	@$< > $<.out || { cat $<.out; exit 1; }
read-back: roundtrip $(BUILD)/examples/infer $(BUILD)/eddy
	@$(BUILD)/examples/infer --out $(BUILD)/round_trip
	@sh scripts/report_page.sh $(BUILD)/round_trip/digits.html overview curves tables images histograms time parameters graph0
	@rm -rf $(BUILD)/round_trip/train
	@$(BUILD)/eddy train examples/train/digits.yaml --output $(BUILD)/round_trip/train --set epochs=2 --set data.limit=200 >$(BUILD)/round_trip/train.out
	@sh scripts/report_page.sh $(BUILD)/round_trip/train/report.html overview curves tables images histograms parameters graph0
transcripts: $(BUILD)/eddy
	@BUILD='$(BUILD)' sh scripts/command.sh tests/command/*.txt docs/guide/command.md docs/guide/training.md
pages: $(LIBRARIES:%=$(BUILD)/%.a)
	@CC='$(CC)' BUILD='$(BUILD)' LIBS='$(INPUT_LIBS) $(LIBS)' sh scripts/docs.sh README.md docs/*/*.md

gdb: $(BUILD)/tests/gdb ## show tensors in gdb, if it is installed, and compare
	@sh scripts/gdb.sh $<
$(BUILD)/tests/gdb: $(BUILD)/obj/tests/gdb/debugged.o $(BUILD)/libeddy.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
$(BUILD)/obj/tests/gdb/debugged.o: CFLAGS := -O0 -g

onnx-gradients: $(BUILD)/eddy ## compare ONNX models of eddy grad in ONNX Runtime with Eddy (needs npm; PyTorch, if it is installed)
	@BUILD='$(BUILD)' sh scripts/onnx_gradients.sh

docs: $(REFERENCE)/index.md $(REFERENCE)/catalog.md ## write the reference of operations to build/docs/reference
$(REFERENCE)/index.md: $(OPSRC) ops/gen.awk ops/declared.awk ops/calls_by_task.txt scripts/reference.sh
	@sh scripts/reference.sh $(@D)
$(REFERENCE)/catalog.md: $(BUILD)/tables/catalog
	@mkdir -p $(@D)
	@$< > $@

interface: build/interface.json ## write the public interface as JSON, for bindings, to build/interface.json
build/interface.json: $(HEADERS) scripts/interface.awk
	@awk -f scripts/interface.awk $(HEADERS) > $@

bindings: build/interface.json $(BUILD)/libeddy.so ## train a model from Python through build/interface.json
	@if command -v python3 >/dev/null; then \
	    python3 tests/bindings/train.py build/interface.json $(BUILD)/libeddy.so; \
	else echo 'bindings: no python3, skipped'; fi

passes: tests ## compare random graphs with and without compiler passes (GRAPHS=20000)
	EDDY_GRAPHS=$(or $(GRAPHS),20000) CK_RUN_SUITE=passes $(BUILD)/run-tests

roundtrip: $(ROUND_TRIPS:%=%.ran) ## write, read and run the graphs of the examples, and compare results bit for bit
$(ROUND_TRIPS:%=%.ran): %.ran: %
	@$< --epochs 1 --out $(BUILD)/round_trip > $<.out 2>&1 || { cat $<.out; exit 1; }
	@tail -n 1 $<.out

machines: ## build the transport over MPI, and train the digits on 2 and 4 ranks (Debian: libopenmpi-dev, openmpi-bin)
	@sh scripts/setup.sh machines
	@$(MAKE) --no-print-directory $(BUILD)/libeddy_mpi.a $(BUILD)/libeddy_mpi.so $(BUILD)/mpi/digits
	@BUILD='$(BUILD)' sh scripts/machines.sh digits

check-machines: ## test ranks that are processes: collectives, trainings, failures (KILLS=100: kill -9 as often; VALGRIND=1: two ranks under valgrind)
	@sh scripts/setup.sh machines
	@[ -z '$(VALGRIND)' ] || sh scripts/setup.sh valgrind
	@$(MAKE) --no-print-directory $(BUILD)/mpi/ranks
	@BUILD='$(BUILD)' sh scripts/machines.sh check
	@[ -z '$(KILLS)' ] || BUILD='$(BUILD)' KILLS='$(KILLS)' sh scripts/machines.sh kills
	@[ -z '$(VALGRIND)' ] || BUILD='$(BUILD)' sh scripts/machines.sh valgrind

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED = --no-print-directory BUILD=build/sanitize OPT=-O1 CFLAGS='-g1 $(SANITIZE)'
sanitize: ## run tests and examples with AddressSanitizer, UBSan and leak check
	@sh scripts/setup.sh check
	@$(MAKE) $(SANITIZED) sanitized
sanitized-tests:
	@$(MAKE) $(SANITIZED) tests
# The longest first. Each example trains for one epoch, and repeats every run on the graph that was written and
# read; `make check` trains to the end.
sanitized: tests
	@$(MAKE) --no-print-directory $(BUILD)/round_trip/transformer.ran roundtrip $(BUILD)/examples/infer
	@$(BUILD)/examples/infer --out $(BUILD)/round_trip
	@CK_FORK=no $(RUN_TESTS)

valgrind: ## run the tests under valgrind, except cases tagged slow or many (JOBS=1: one suite at a time)
	@sh scripts/setup.sh valgrind
	@$(MAKE) --no-print-directory BUILD=build/valgrind OPT=-O1 tests
	@CK_FORK=no CK_EXCLUDE_TAGS='slow many' OPENBLAS_CORETYPE=Sandybridge OPENBLAS_NUM_THREADS=1 \
	    UNDER='valgrind -q --fair-sched=yes --leak-check=full --error-exitcode=1' \
	    $(MAKE) --no-print-directory BUILD=build/valgrind run-tests

tsan: ## run the tests with ThreadSanitizer, except cases tagged slow or many (JOBS=1: one suite at a time)
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory BUILD=build/tsan OPT=-O1 CFLAGS='-g1 -fsanitize=thread' tests
	@CK_FORK=no CK_EXCLUDE_TAGS='slow many' OPENBLAS_NUM_THREADS=1 UNDER='setarch -R' \
	    TSAN_OPTIONS=allocator_may_return_null=1 \
	    $(MAKE) --no-print-directory BUILD=build/tsan run-tests

msan: ## run tests and examples with MemorySanitizer, except cases tagged slow or many (needs clang, cmake)
	@sh scripts/setup.sh check
	@BUILD=build/msan MAKE='$(MAKE)' EXAMPLES='$(notdir $(SELF_CHECKING))' sh scripts/memory_sanitizer.sh $(SUITES)

$(BUILD)/determinism: $(BUILD)/obj/tests/determinism/main.o $(BUILD)/obj/tests/lib/trainings.o $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

portability: tests ## test with other compilers, libraries and processors (PORTABILITY='clang-O2 i386': some rows)
	@sh scripts/setup.sh portability || true
	@CC='$(CC)' BUILD='$(BUILD)' MAKE='$(MAKE)' ALL_SUITES='$(SUITES)' sh scripts/portability.sh $(PORTABILITY)

STEPS ?= 1000
determinism: $(BUILD)/determinism tests ## train with other threads, files and instructions, and compare bits (STEPS=1000)
	@sh scripts/setup.sh determinism || true
	@BUILD='$(BUILD)' STEPS='$(STEPS)' sh scripts/determinism.sh

RUNS ?= 10000
threads: $(BUILD)/mixed_runs ## let 8 threads use, update, save, cancel and close one session (RUNS=10000 each), and test ranks under ThreadSanitizer
	@$(BUILD)/mixed_runs $(RUNS)
	@$(MAKE) --no-print-directory BUILD=build/tsan OPT=-O1 CFLAGS='-g1 -fsanitize=thread' build/tsan/mixed_runs build/tsan/rank_suites
	@OPENBLAS_NUM_THREADS=1 setarch -R build/tsan/mixed_runs $(RUNS)
	@CK_FORK=no OPENBLAS_NUM_THREADS=1 setarch -R build/tsan/rank_suites

# Functions inlined into a line would count again in each copy.  A cached object file names the
# folder of another build as the one for its counts.
COVER := -g --coverage -fprofile-update=single -Dalways_inline=unused
# Threads that count at once lose counts, which can become negative. Atomic counts are exact, and too
# slow for kernels.
$(foreach f,graph session formats input,$(BUILD)/obj/$f/%.o): override CFLAGS += $(EXACT_COUNTS)
# Scenarios of which all allocations fail, for the readers of models and checkpoints.
COVER_WHOLE := 'ONNX case' 'ONNX node' 'ONNX text' 'ONNX model' file 'TensorFlow node' \
    'TensorFlow graph' 'TensorFlow model' 'checkpoint of TensorFlow' 'report of event files' \
    'layers of PyTorch' checkpoint 'checkpoint in several files' 'kept checkpoints' \
    'complex numbers in checkpoints' 'checkpoint of new sessions' 'checkpoint of a caller' \
    'small integers' 'odd graph' 'data file'
# Suites whose cases tagged slow or many reach more of readers.
COVER_SUITES := hdf5_links onnx_damaged onnx_nodes pickles safetensors tensorflow_limits
cover: ## print the share of lines and branches that the tests reach, per folder (needs gcc)
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory CC='$(filter-out ccache,$(CC))' BUILD=build/cover OPT=-O0 CFLAGS='$(COVER)' \
	    EXACT_COUNTS=-fprofile-update=atomic covered
covered: tests $(TORTURES:%=$(BUILD)/torture/%)
	@find $(BUILD)/obj -name '*.gcda' -delete
	@CK_FORK=no CK_EXCLUDE_TAGS='slow many' $(RUN_TESTS)
	@CK_FORK=no sh scripts/tests.sh $(BUILD)/run-tests $(COVER_SUITES)
	@$(MAKE) --no-print-directory torture-quick
	@(for kind in $(COVER_WHOLE); do $(BUILD)/torture/memory 0 "$$kind" || exit 1; done) \
	    > $(BUILD)/torture/cases.out || { grep FAULT $(BUILD)/torture/cases.out; exit 1; }
	@python3 scripts/coverage.py $(BUILD)/obj $(BUILD)/missing.txt
	@echo 'lines and branches that were not reached: $(BUILD)/missing.txt'

MUTANTS ?= 300
# What the programs with changes are linked with; of $1, the folder of a build.
MUTANT_TESTS = $(TESTS:%.c=$1/obj/%.o) $1/obj/bench/workloads/allocations.o $(REPLACED)
MUTANT_LIBRARIES = -Wl,--start-group $(LIBRARIES:%=$1/%.a) -Wl,--end-group $(CHECK_LIBS) $(INPUT_LIBS) $(LIBS) -ldl
mutants: tests $(BUILD)/torture/memory ## change operators in checks, shapes and plans, and count what the tests notice (MUTANTS=300)
	@$(MAKE) --no-print-directory sanitized-tests
	@COMPILE='$(filter-out ccache,$(CC)) $(filter-out -Werror -MMD -MP,$(EDDY_CFLAGS)) -O1' \
	    LINK='$(CC) -Wl,-S' OBJECTS='$(call MUTANT_TESTS,$(BUILD))' LIBRARIES='$(call MUTANT_LIBRARIES,$(BUILD))' \
	    MEMORY='$(BUILD)/obj/tests/torture/memory.o $(TORTURE_MEMORY) $(TORTURE_SHARED)' KINDS="$(COVER_WHOLE)" \
	    SANITIZE='$(SANITIZE)' SANITIZED='$(call MUTANT_TESTS,build/sanitize)' \
	    SANITIZED_LIBRARIES='$(call MUTANT_LIBRARIES,build/sanitize)' \
	    python3 scripts/mutants.py $(BUILD) $(MUTANTS) $(MUTANTS_OPTIONS)

FUZZ_SECONDS ?= 60
# An input may take 256 MiB; without it a process takes up to 134, with 16 MiB of freed memory that
# AddressSanitizer keeps, instead of 256. It may take one second of the processor, which the suite `corpus`
# measures (EDDY_TIMED=1): with sanitizers, beside other programs, an input of 0.15 s took 2 s of the clock.
# Inputs that take longer than one are stored as slow-unit-*.
FUZZ_LIMITS := -rss_limit_mb=384 -malloc_limit_mb=256 -timeout=5 -report_slow_units=1
FUZZ := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# Readers run few operations, which clang takes minutes to optimize. Mutators are no part of what is
# fuzzed.
fuzz: ## feed damaged files to the readers (FUZZ_SECONDS=60 per format; needs clang)
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null || \
	    { echo 'make fuzz needs clang with libFuzzer (Debian: clang, libclang-rt-dev)' >&2; exit 1; }
	@$(MAKE) --no-print-directory CC=clang BUILD=build/fuzz OPT=-O1 CFLAGS='-g1 $(FUZZ)' NOT_OPTIMIZED=ops/% \
	    NOT_FUZZED='-fno-sanitize=all -O1' fuzzing
fuzzing: $(FUZZED:%=$(BUILD)/fuzz/%) $(BUILD)/fuzz/write_seeds
	@mkdir -p $(foreach f,$(FUZZED),$(BUILD)/seeds/$(f) $(BUILD)/corpus/$(f) $(BUILD)/found/$(f))
	@$(BUILD)/fuzz/write_seeds $(BUILD)/seeds
	@for m in data/sine.onnx /usr/share/libonnx-testdata/data/node/*/model.onnx; do \
	    [ ! -f $$m ] || cp $$m $(BUILD)/seeds/onnx/$$(echo $$m | tr / _); done
	@cp tests/formats/files/*.pt tests/formats/files/*.pkl $(BUILD)/seeds/torch
	@cp data/sine.pb tests/formats/files/*.json $(BUILD)/seeds/tensorflow
	@cp tests/formats/files/*.block $(BUILD)/seeds/bundle
	@cp tests/formats/files/*.h5 tests/formats/files/*.keras $(BUILD)/seeds/keras
	@cp tests/input/fixtures/*.npz $(BUILD)/seeds/npz; cp tests/input/fixtures/*.wav $(BUILD)/seeds/wav
	@cp tests/input/fixtures/*.csv $(BUILD)/seeds/csv; cp tests/input/fixtures/*.gz $(BUILD)/seeds/idx
	@cp tests/input/fixtures/*.png tests/input/fixtures/*.jpg $(BUILD)/seeds/image
	@for f in $(FUZZED); do echo "fuzzing $$f for $(FUZZ_SECONDS) seconds"; \
	    OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=quarantine_size_mb=16 \
	        $(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) $(FUZZ_LIMITS) -max_len=16384 -print_final_stats=1 \
	        -dict=$(BUILD)/seeds/words -artifact_prefix=$(BUILD)/found/$$f/ \
	        $(BUILD)/corpus/$$f $(BUILD)/seeds/$$f tests/fuzz/corpus/$$f > $(BUILD)/$$f.log 2>&1 || \
	        { tail -n 60 $(BUILD)/$$f.log; exit 1; }; \
	    grep -E 'stat::(number_of_executed_units|new_units_added)|cov:' $(BUILD)/$$f.log | tail -n 3; \
	done

corpus: ## choose the inputs of tests/fuzz/corpus among those of make fuzz (CORPUS=24 of each format)
	@sh scripts/choose_corpus.sh build/fuzz $(or $(CORPUS),24) $(FUZZED)

ACCURATE := $(BUILD)/accuracy
$(ACCURATE): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/accuracy/*.c)) $(BUILD)/libeddy.a
	@echo '  link  $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -lmpfr -lgmp $(LIBS)
accuracy: $(ACCURATE) ## compare float64 functions with MPFR (ARGUMENTS='200000 Exp': so many, of some; libmpfr-dev)
	$(ACCURATE) $(ARGUMENTS)

HUNTED  := $(BUILD)/hunt
HUNTSRC := $(sort $(wildcard tests/hunt/*.c))
$(HUNTED): $(HUNTSRC:%.c=$(BUILD)/obj/%.o) $(ROWOBJ) $(BUILD)/libeddy.a
	@echo '  link  $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -lmpfr -lgmp $(LIBS)
hunt: $(HUNTED) ## compare derivatives at special arguments with MPFR (ARGUMENTS='Erf Gelu -v': some; libmpfr-dev)
	OPENBLAS_NUM_THREADS=1 $(HUNTED) $(ARGUMENTS)

torture: ## run the long tests of reliability and print a table (TORTURE='memory kills': some rows; long: those that take hours)
	@sh scripts/setup.sh check
	@$(MAKE) --no-print-directory lib tests $(TORTURES:%=$(BUILD)/torture/%)
	@BUILD='$(BUILD)' sh scripts/torture.sh $(TORTURE)

# A part of it, in seconds: of these kinds all allocations, of others a few.
TORTURE_WHOLE := file loop: variables 'pipeline with a graph' 'shape rules' 'gradient check' L-BFGS \
                 'small program' 'extract an operand'
torture-quick: quick-memory quick-crashes quick-hostile
quick-memory: $(BUILD)/torture/memory
	@(for kind in $(TORTURE_WHOLE); do $< 0 "$$kind" || exit 1; done) > $<.whole || { grep FAULT $<.whole; exit 1; }
	@$< 4 > $<.out || { grep FAULT $<.out; exit 1; }
	@tail -n 1 $<.out
quick-crashes: $(BUILD)/torture/files
	@$< crashes 5 > $<.out || { cat $<.out; exit 1; }
	@tail -n 1 $<.out
quick-hostile: $(BUILD)/hostile
	@OPENBLAS_NUM_THREADS=1 $< 20000 > $<.out 2> $<.err || { grep FOUND $<.out $<.err; exit 1; }
	@tail -n 1 $<.out

CALLS ?= 100000
hostile: ## call every public function with random arguments under the sanitizers (CALLS=100000)
	@$(MAKE) $(SANITIZED) build/sanitize/hostile
	OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=3072 \
	    build/sanitize/hostile \
	    $(CALLS) 2> build/sanitize/hostile.err || \
	    { grep -aA30 'ERROR: \|FOUND \|does not end' build/sanitize/hostile.err | head -n 100; exit 1; }
HOSTILE_HAND := $(addprefix tests/hostile/,random_arguments.h wrong.h by_hand.h ranks.h not_called.txt)
$(GEN)/interface.json: $(HEADERS) $(FORMATS_H) $(INPUT_H) scripts/interface.awk
	@awk -f scripts/interface.awk $(HEADERS) $(FORMATS_H) $(INPUT_H) > $@
$(GEN)/interface_with_ranks.json: $(GEN)/interface.json $(DISTRIBUTED_H)
	@awk -f scripts/interface.awk $(HEADERS) $(FORMATS_H) $(INPUT_H) $(DISTRIBUTED_H) > $@
$(GEN)/hostile.h: tests/hostile/calls.awk $(HOSTILE_HAND) $(GEN)/interface_with_ranks.json
	@awk -f tests/hostile/calls.awk $(HOSTILE_HAND) $(GEN)/interface_with_ranks.json > $@
$(BUILD)/obj/tests/hostile/hostile.o: $(GEN)/hostile.h
$(BUILD)/hostile: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/hostile/*.c)) \
                $(BUILD)/libeddy_distributed.a $(BUILD)/libeddy_input.a $(BUILD)/libeddy_formats.a $(BUILD)/libeddy.a
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(INPUT_LIBS) $(LIBS)

bench: $(WORKLOADS) ## compare training steps with PyTorch (BENCH='--quick mlp_b128 lstm': some of them)
	@sh scripts/bench.sh $(WORKLOADS) --out $(BUILD)/bench $(if $(BENCH),$(BENCH),--page)

bench-check: ## measure training steps, and what has a mark, and compare with bench/ratios.json and marks.json
	@$(MAKE) --no-print-directory benches
	@sh scripts/bench.sh $(WORKLOADS) --out $(BUILD)/bench --check $(BENCH)
	@python3 scripts/bench_marks.py $(BUILD) --check

bench-marks: ## measure everything else that has a mark (BENCH='--quick products jacobians': some groups)
	@$(MAKE) --no-print-directory benches
	@python3 scripts/bench_marks.py $(BUILD) $(if $(BENCH),$(BENCH),--page)

instructions: $(WORKLOADS) ## count the instructions of each training step (UPDATE=1: store the counts)
	@sh scripts/setup.sh valgrind
	@UPDATE='$(UPDATE)' sh scripts/instructions.sh $(WORKLOADS) bench/instructions.json $(BENCH)

bench-ops: $(BUILD)/bench/ops ## compare single operations with PyTorch (BENCH='--cpu tan sort': some of them)
	@python3 scripts/bench_ops.py $(BUILD)/bench/ops $(BENCH)

bench-machines: ## compare two ranks with PyTorch's DistributedDataParallel, and all_reduce with MPI's (BENCH='--rounds 3 mlp')
	@sh scripts/setup.sh machines
	@$(MAKE) --no-print-directory $(BUILD)/bench/ranks
	@python3 scripts/bench_ranks.py $(BUILD)/bench/ranks $(BENCH)

scale: ## predict the efficiency of 2 to 1024 ranks with SimGrid (Debian: libsimgrid-dev; SCALE=--check: compare with this machine; --overlap: messages that travel meanwhile)
	@sh scripts/setup.sh machines
	@sh scripts/setup.sh scale
	@$(MAKE) --no-print-directory $(BUILD)/bench/ranks $(BUILD)/bench/simulated_ranks $(BUILD)/bench/plot_scale
	@python3 scripts/scale.py $(BUILD)/bench $(SCALE)
	@[ ! -e $(BUILD)/bench/scale.tsv ] || for k in weak strong; do $(BUILD)/bench/plot_scale $$k < $(BUILD)/bench/scale.tsv > $(BUILD)/bench/$$k.svg || exit 1; done

bench-inference: $(BUILD)/bench/inference ## compare inference with PyTorch and ONNX Runtime (BENCH='--cpu mlp_b1')
	@python3 scripts/bench_inference.py $(BUILD)/bench/inference --out $(BUILD)/bench $(if $(BENCH),$(BENCH),--page)

parts: $(BENCHES) ## measure kernels, and the cost of nodes
	@for b in $(BENCHES); do $$b || exit 1; done

size: lib ## check sizes, exported symbols and plans of statically linked programs
	@CC='$(CC)' BUILD='$(BUILD)' LDFLAGS='$(LDFLAGS)' LIBS='$(LIBS)' sh scripts/size.sh

headers: $(BUILD)/libeddy.a ## compile every public header by itself, as C11 and as C++
	@CXX='$(CXX)' BUILD='$(BUILD)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' LIBS='$(LIBS)' \
	    sh scripts/headers.sh $(HEADERS) $(FORMATS_H) $(INPUT_H) $(DISTRIBUTED_H) $(MPI_H)
	@CC='$(CC)' BUILD='$(BUILD)' LDFLAGS='$(CFLAGS) $(LDFLAGS)' LIBS='$(LIBS)' \
	    sh scripts/old_headers.sh $(HEADERS)

# `make install` in it does not write again what another target may be writing.
packages: lib command build/interface.json $(REFERENCE)/index.md $(REFERENCE)/catalog.md ## build programs against an installed copy with CMake, pkg-config and Python
	@CC='$(CC)' CXX='$(CXX)' BUILD='$(BUILD)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
	    MAKE='$(MAKE)' sh scripts/packages.sh

style: style-scripts lib command ## check the sources: order of folders, sizes, paths in pages, messages, symbols
	@sh scripts/folder_order.sh $(BUILD)/obj
	@CC="$(CC)" sh scripts/folder_order_check.sh
	@nm -D --defined-only $(LIBRARIES:%=$(BUILD)/%.so) | awk 'NF == 3' | awk '$$3 !~ /^eddy_/ { print "exported: " $$3; bad = 1 } END { exit bad }'
	@readelf -sW $(OBJECTS) $(FORMATS) $(INPUT) $(DISTRIBUTED) | awk '$$5 == "GLOBAL" && $$6 == "HIDDEN" && $$7 != "UND" && \
	    $$8 !~ /^eddy__|^eddy_op_/ { print "an internal name without eddy__: " $$8; bad = 1 } END { exit bad }'
	@for a in $(LIBRARIES:%=$(BUILD)/%.a); do nm -g --defined-only $$a | awk 'NF == 3 { print $$3 }' | sort -u; done | \
	    sort | uniq -d | awk '{ print "defined in two libraries: " $$0; bad = 1 } END { exit bad }'
	@sh scripts/closed_operations.sh $(BUILD)/obj
	@echo 'style: ok'
style-scripts: | $(GEN)/stamp
	@sh scripts/style.sh
	@sh scripts/messages.sh

format: ## break lines of more than 100 columns
	@sh scripts/format.sh

install: lib command build/interface.json $(REFERENCE)/index.md $(PC_FILES) $(CMAKE_FILES) ## install into $(DESTDIR)$(PREFIX)
	@# without #line, which names sources that are not installed
	@for h in $(HEADERS) graph/call_lines.h $(FORMATS_H) $(INPUT_H) $(DISTRIBUTED_H) $(if $(HAS_MPI),$(MPI_H)); do to=$(DESTDIR)$(PREFIX)/include/eddy/$$h; install -D -m 644 $$h $$to || exit 1; \
	    sed -i '/^#line /d' $$to; done
	@for l in $(LIBRARIES) $(if $(HAS_MPI),libeddy_mpi); do to=$(DESTDIR)$(LIBDIR)/$$l; \
	    install -D -m 644 $(BUILD)/$$l.a $$to.a && \
	    install -D -m 755 $(BUILD)/$$l.so.$(VERSION) $$to.so.$(VERSION) && \
	    ln -sf $$l.so.$(VERSION) $$to.so.$(SOMAJOR) && ln -sf $$l.so.$(SOMAJOR) $$to.so || exit 1; done
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/pkgconfig $(PC_FILES)
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/cmake/eddy $(CMAKE_FILES)
	install -D -m 644 build/interface.json $(DESTDIR)$(PREFIX)/share/eddy/interface.json
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/eddy $(REFERENCE)/*.md
	@# configurations of eddy train, with what they name
	@for f in $(wildcard examples/train/*.yaml data/digit*) data/README.md; do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/doc/eddy/$$f || exit 1; done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/eddy/gdb share/gdb/eddy.py
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/eddy
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/man/*.1
	install -D -m 644 share/completions/eddy.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/eddy
	install -D -m 644 share/completions/_eddy $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_eddy
	install -D -m 644 share/completions/eddy.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/eddy.fish

uninstall: ## remove what `make install` installed
	rm -rf $(DESTDIR)$(PREFIX)/include/eddy
	rm -f $(DESTDIR)$(LIBDIR)/libeddy.* $(DESTDIR)$(LIBDIR)/libeddy_*
	rm -f $(DESTDIR)$(LIBDIR)/pkgconfig/eddy.pc $(DESTDIR)$(LIBDIR)/pkgconfig/eddy-*.pc
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/eddy $(DESTDIR)$(PREFIX)/share/doc/eddy $(DESTDIR)$(PREFIX)/share/eddy
	rm -f $(DESTDIR)$(PREFIX)/bin/eddy $(DESTDIR)$(PREFIX)/share/bash-completion/completions/eddy
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_eddy
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/eddy.fish
	rm -f $(patsubst docs/man/%,$(DESTDIR)$(PREFIX)/share/man/man1/%,$(wildcard docs/man/*.1))

clean: ## remove all built files
	rm -rf build $(filter-out build,$(BUILD))

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.PHONY: all lib machines check-machines objects command examples tests benches setup demo check run-tests docs interface bindings onnx-gradients accuracy hunt passes roundtrip sanitize \
        style-scripts self-checking read-back transcripts pages quick-memory quick-crashes quick-hostile \
        sanitized-tests sanitized valgrind tsan msan threads determinism portability cover covered mutants fuzz fuzzing corpus torture torture-quick hostile \
        bench bench-check bench-marks bench-inference bench-machines scale bench-ops instructions \
        gdb parts headers packages style format install uninstall clean help FORCE
.DELETE_ON_ERROR:
