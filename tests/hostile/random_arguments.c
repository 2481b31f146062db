#define _DEFAULT_SOURCE
#include "tests/hostile/random_arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* ------------------------------------------------------------------ numbers -- */

int64_t draw_int64_t(void)
{
    static const int64_t all[] = { 0, 1, 2, -1, 3, -2, 0, 1, 2, 7, 100, 1LL << 33, INT64_MAX,
                                   INT64_MIN, INT32_MAX, 1LL << 48, EDDY_OMITTED };
    return all[draw(seldom(4) ? COUNT(all) : 9)];
}

uint64_t draw_uint64_t(void) { return (uint64_t)draw_int64_t(); }
size_t   draw_size_t(void) { return (size_t)draw_int64_t(); }

int draw_int(void)
{
    static const int all[] = { 0, 1, 2, -1, 3, -2, 0, 1, 2, 7, 100, 65536, INT_MAX, INT_MIN,
                               EDDY_OMITTED };
    return all[draw(seldom(4) ? COUNT(all) : 9)];
}

int32_t  draw_int32_t(void) { return draw_int(); }
uint32_t draw_uint32_t(void) { return (uint32_t)draw_int(); }
unsigned draw_unsigned(void) { return draw(2) ? (unsigned)draw_bits() : (unsigned)draw_int(); }

double draw_double(void)
{
    static const double all[] = { 0, 1, -1, 0.5, 2, 0, 1, 1e-3, 1e308, (double)NAN, 5e-324,
                                  (double)INFINITY, -(double)INFINITY };
    return all[draw(COUNT(all))];
}

bool draw_bool(void) { return draw(2) == 1; }
char draw_char(void) { return (char)draw(256); }

int draw_enum(int values)
{
    static const int wrong[] = { -1, INT_MAX, INT_MIN, 1000 };
    if (!seldom(12)) return draw(values);
    return draw(2) ? values : wrong[draw(4)];
}

size_t draw_size(size_t of)
{
    const size_t all[] = { 0, 1, 8, of / 2, of - 1, of + 1, of + 8, 2 * of, SIZE_MAX / 2 };
    return all[draw(COUNT(all))];
}

/* -------------------------------------------------------------------- texts -- */

enum { LONG = 5000 };
static char longest[LONG + 1], longer_than_a_name[4097 + 1];

static const char *const files[] = {
    "data/sine.onnx", "data/sine.pb", "data/fine_tune.safetensors",
    "data/digits-labels.idx1-ubyte", "tests/input/fixtures/gray.png",
    "tests/input/fixtures/gray.jpg", "tests/input/fixtures/stereo.wav",
    "tests/input/fixtures/table.csv", "tests/input/fixtures/stored.npz",
    "tests/input/fixtures/deflated.npz", "tests/formats/files/net.pt",
    "tests/formats/files/model.json", "tests/formats/files/mixed.pkl",
    "tests/formats/files/keras2.h5"
};

static const char *name_of(const char *path) { return strrchr(path, '/') + 1; }

void draws_begin(const char *home)
{
    char command[4096];
    memset(longest, 'x', LONG);
    memset(longer_than_a_name, 'n', sizeof longer_than_a_name - 1);
    for (int i = 0; i < COUNT(files); i++) {
        snprintf(command, sizeof command, "cp '%s/%s' ../whole", home, files[i]);
        if (system(command) != 0) exit(2);
    }
}

/* Calls replace files and do not write into them, so links suffice. */
void draws_begin_world(void)
{
    char whole[100];
    for (int i = 0; i < COUNT(files); i++) {
        snprintf(whole, sizeof whole, "../whole/%s", name_of(files[i]));
        unlink(name_of(files[i]));
        if (link(whole, name_of(files[i])) != 0) exit(2);
    }
}

const char *draw_const_char_p(void)
{
    static const char *const all[] = {
        "x", "", "%s%n", "%n%n%n%n", "%1000000s", "a", "x:0", "x:1", "y:-1", "x:99999999999", "/",
        "a/b/", "_", "\xff\xfe", "line\nbreak", "\"", "'", "{}", "ij,jk->ik", "i j -> j i",
        "a (b c) -> a b c", "...", "b ... -> ... b", ":, 0", ":, :2", "1:2:3:4", "...,-1", "NCHW",
        "NHWC", "SAME", "VALID", "channels_first", "x, y", "x,,y", ",", "fan_in", "uniform",
        "variables", "trainable_variables", "losses", "global_step", "Square", "Custom", "relu",
        "f0", "f1", "f2.json", "f3.index.json", ".", "..", "missing/f", "/dev/null", "/dev/full",
        "**", "*", "a*b*c", "(", ")", "((((((((((", "h w i o -> o i h w", "n (h d) -> n h d",
        "-1", "9223372036854775808", "nan", "0x10", "float32", "sum", "mean", "min", "reflect"
    };
    const int kind = draw(16);
    if (kind < 3) return NULL;
    if (seldom(16)) return draw(2) ? longest : longer_than_a_name;
    if (kind == 4) return name_of(files[draw(COUNT(files))]);
    return all[draw(COUNT(all))];
}

char *draw_char_p(void)
{
    if (seldom(12)) return NULL;
    here.arrays++;
    return scratch((size_t)here.entries);
}

/* ------------------------------------------------------------------- shapes -- */

eddy_dtype draw_eddy_dtype(void)
{
    static const eddy_dtype usual[] = { EDDY_DEFAULT_DTYPE, EDDY_FLOAT32, EDDY_FLOAT64,
                                        EDDY_INT32 };
    return draw(2) ? usual[draw(4)] : (eddy_dtype)draw_enum(EDDY_DTYPES);
}

eddy_shape draw_small_shape(void)
{
    eddy_shape s = { .rank = draw(5) };
    for (int i = 0; i < s.rank; i++) s.dim[i] = draw(5);
    return s;
}

eddy_shape draw_eddy_shape(void)
{
    static const int     wrong[] = { -1, -5, 9, 100, INT_MAX, INT_MIN };
    static const int64_t all[] = { EDDY_ANY, INT64_MAX / 4, -2, INT64_MIN, 1LL << 31, 1LL << 48 };
    if (draw(10) == 0) return EDDY_UNKNOWN_SHAPE;
    eddy_shape s = draw_small_shape();
    if (draw(4) == 0)
        for (int i = 0; i < s.rank; i++)
            if (draw(2)) s.dim[i] = all[draw(draw(4) ? 1 : COUNT(all))];
    if (seldom(24)) s.rank = wrong[draw(COUNT(wrong))];
    return s;
}

eddy_dims draw_eddy_dims(void)
{
    static const int wrong[] = { -1, -5, 9, 100, INT_MAX, INT_MIN };
    const intptr_t   number = draw(9) - 4;
    eddy_dims        d = { .count = draw(6) };
    if (d.count == 0) d = EDDY_OMITTED_DIMS;
    if (draw(20) == 0) {                             /* as `.axes = 1` */
        d.count = 0;
        memcpy(&d, &number, sizeof number);
    }
    for (int i = 0; i < d.count; i++) d.at[i] = draw_int64_t();
    if (seldom(24)) d.count = wrong[draw(COUNT(wrong))];
    return d;
}

/* ------------------------------------------------------------------ tensors -- */

/* In mild worlds most tensors fit each other. */
static eddy_tensor fitting(eddy_graph *g)
{
    const eddy_shape s = world_shape();
    switch (draw(4)) {
    case 0: return eddy_placeholder(g, NULL, EDDY_FLOAT32, s);
    case 1: return eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, s));
    default: return eddy_ones(g, EDDY_FLOAT32, s);
    }
}

static eddy_tensor variable(eddy_graph *g, eddy_dtype d)
{
    return eddy_variable(g, eddy_zeros(g, d, EDDY_SHAPE(3, 2)));
}

eddy_tensor draw_eddy_tensor(void)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                        EDDY_BOOL, EDDY_COMPLEX64, EDDY_UINT8, EDDY_FLOAT16 };
    static const int32_t    ids[] = { 0, -1, 1, INT32_MAX, INT32_MIN, 1000000 };
    const eddy_tensor       omitted = EDDY_OMITTED_TENSOR;
    eddy_graph             *g = world_graph();
    const eddy_dtype        d = types[draw(draw(2) ? 2 : COUNT(types))];
    eddy_tensor             t = tensor_kept();
    eddy_shape              s = draw_small_shape();
    if (world_is_mild() && draw(2)) return fitting(g);
    switch (seldom(6) ? draw(5) : 5 + draw(27)) {
    case 0: return eddy_none(NULL);
    case 1: return omitted;
    case 2: t.node = ids[draw(COUNT(ids))]; return t;
    case 3: t.output = ids[draw(COUNT(ids))]; return t;
    case 4: t.graph = object_any(object_kind_named("eddy_graph")); return t;
    case 5: case 6: return eddy_scalar(g, draw_double());
    case 7: case 8: return eddy_number(g, draw(2) ? EDDY_INT64 : EDDY_INT32, draw(5) - 2);
    case 9: case 10: return variable(g, d);
    case 11: return eddy_number(g, EDDY_BOOL, draw(2));
    case 12: case 13: case 14: case 15:
        return eddy_fill(eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(1)), t);
    case 16: case 17: case 18: case 19:
        if (draw(4) == 0 && s.rank > 0) s.dim[0] = EDDY_ANY;
        return eddy_placeholder(g, NULL, d, !seldom(8) ? s : EDDY_UNKNOWN_SHAPE);
    case 20: case 21: case 22: return eddy_ones(g, d, s);
    default: return t;
    }
}

eddy_array *draw_eddy_array_p(void)
{
    const int kind = object_kind_named("eddy_array");
    if (draw(3) == 0) {
        eddy_array *a = eddy_array_new(draw_eddy_dtype(), draw_small_shape());
        for (int64_t i = 0; a && i < eddy_array_count(a); i++) eddy_array_set(a, i, draw_double());
        object_keep(kind, a);
    }
    return object_any(kind);
}

/* ----------------------------------------------------------------- pointers -- */

void *draw_void_p(void)
{
    static int somewhere[16];
    return draw(2) ? somewhere : NULL;
}

const void *draw_const_void_p(void)
{
    if (seldom(12)) return NULL;
    here.arrays++;
    unsigned char *p = scratch((size_t)here.entries);
    for (int i = 0; p && i < here.entries; i++)
        p[i] = (unsigned char)(draw(2) ? draw(256) : draw(20));
    return p;
}

FILE *draw_FILE_p(void)
{
    static FILE *written, *read_only;
    if (!written) written = fopen("/dev/null", "w");
    if (!read_only) read_only = fopen("/dev/null", "r");
    if (seldom(8)) return NULL;
    return draw(4) ? written : read_only;
}

eddy_error *draw_eddy_error_p(void) { return scratch_error(); }

eddy_array_room *draw_eddy_array_room_p(void)
{
    return !seldom(12) ? scratch(sizeof(eddy_array_room)) : NULL;
}

eddy_graph_block *draw_eddy_graph_block_p(void)
{
    eddy_graph_block *b = !seldom(8) ? scratch(sizeof *b) : NULL;
    if (b) *b = eddy_scope_open(world_graph(), draw_const_char_p());
    if (b && draw(3) == 0) b->end = NULL;
    return b;
}

const eddy_rnn_state *draw_eddy_rnn_state_p(void)
{
    static eddy_rnn_state all[ENOUGH];
    if (seldom(8)) return NULL;
    here.arrays++;
    for (int i = 0; i < 8; i++)
        all[i] = (eddy_rnn_state){ draw_eddy_shape(), draw_eddy_dtype(), draw(2) };
    return all;
}

const eddy_checkpoint_map *draw_struct_eddy_checkpoint_map_p(void)
{
    static eddy_checkpoint_map circular;
    circular.then = &circular;
    return seldom(8) ? &circular : NULL;
}

eddy_infer      *draw_eddy_infer_p(void) { return NULL; }
eddy_kernel     *draw_eddy_kernel_p(void) { return NULL; }
eddy_rule       *draw_eddy_rule_p(void) { return NULL; }
eddy_batch      *draw_eddy_batch_p(void) { return NULL; }
eddy_parallel_fn draw_eddy_parallel_fn(void) { return NULL; }

/* -------------------------------------------------------- files and memory -- */

static int64_t reads_too_much(void *context, int fd, void *p, size_t n)
{
    (void)context, (void)fd, (void)p;
    return (int64_t)n + 1000;
}
static int64_t writes_too_much(void *context, int fd, const void *p, size_t n)
{
    (void)context, (void)fd, (void)p;
    return (int64_t)n + 1000;
}
static int64_t reads_nothing(void *context, int fd, void *p, size_t n)
{
    (void)context, (void)fd, (void)p, (void)n;
    return 0;
}
static int64_t huge_size(void *context, int fd)
{
    (void)context, (void)fd;
    return INT64_MAX;
}
static int64_t negative_size(void *context, int fd)
{
    (void)context, (void)fd;
    return -5;
}
static int fails(void *context, const char *path, int flags)
{
    (void)context, (void)path, (void)flags;
    errno = EACCES;
    return -1;
}
static int opens_wrong(void *context, const char *path, int flags)
{
    (void)context, (void)path, (void)flags;
    return INT_MAX;
}

const eddy_files *draw_eddy_files_p(void)
{
    static eddy_files all[8];
    if (!all[0].open) {
        for (int i = 0; i < 8; i++) all[i] = *eddy_posix_files();
        all[1].read = reads_too_much;
        all[2].write = writes_too_much;
        all[3].read = reads_nothing;
        all[4].size = huge_size;
        all[5].size = negative_size;
        all[6].open = draw(2) ? fails : opens_wrong;
        memset(&all[7], 0, sizeof all[7]);
    }
    return draw(2) ? NULL : &all[draw(draw(2) ? 1 : 8)];
}

static void *never(void *context, size_t size)
{
    (void)context, (void)size;
    return NULL;
}

const eddy_allocator *draw_eddy_allocator_p(void)
{
    static eddy_allocator all[3];
    all[0] = limited;
    all[1] = (eddy_allocator){ never, limited.release, NULL };
    return !seldom(8) ? &all[0] : draw(3) ? &all[1 + draw(2)] : NULL;
}

/* ------------------------------------------------------------------ results -- */

static eddy_restore_report  restored;
static eddy_gradient_report checked;
static eddy_quantize_report quantized;

eddy_restore_report  *draw_eddy_restore_report_p(void) { return draw(2) ? &restored : NULL; }
eddy_gradient_report *draw_eddy_gradient_report_p(void) { return draw(2) ? &checked : NULL; }
eddy_quantize_report *draw_eddy_quantize_report_p(void) { return draw(2) ? &quantized : NULL; }
eddy_lbfgs_report    *draw_eddy_lbfgs_report_p(void)
{
    return draw(4) ? scratch(sizeof(eddy_lbfgs_report)) : NULL;
}
eddy_kept_checkpoint *draw_eddy_kept_checkpoint_p(void)
{
    return draw(4) ? scratch(sizeof(eddy_kept_checkpoint)) : NULL;
}

void draws_end_call(void)
{
    eddy_restore_report_free(&restored);
    memset(&restored, 0, sizeof restored);
    eddy_string_free(checked.text);
    memset(&checked, 0, sizeof checked);
    eddy_string_free(quantized.text);
    memset(&quantized, 0, sizeof quantized);
}
