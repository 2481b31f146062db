/* onnx_cases.c -- see onnx_cases.h. */
#include "onnx_cases.h"
#include "formats/onnx/reader.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* An input or output file: the tensors of a sequence, one tensor, or none. */
typedef struct loaded {
    onnx_kind   kind;
    int         type, count;
    eddy_array *at[MOST];
    bool        strings;
} loaded;

typedef struct one_case {
    const char  *folder;
    onnx_reader  reader;            /* keeps the arrays */
    region       memory;
    onnx_file    model;
    source      *files[2 * MOST + 1];
    int          n_files;
    loaded       in[MOST], out[MOST];
    int          n_in, n_out;
    bool         open;              /* no dimension of an input is known while the model is read */
    onnx_result  result;
} one_case;

static bool says(one_case *c, onnx_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool says(one_case *c, onnx_outcome outcome, const char *format, ...)
{
    if (c->result.why[0]) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(c->result.why, sizeof c->result.why, format, args);
    va_end(args);
    c->result.outcome = outcome;
    return false;
}

/* -------------------------------------------------------------------- files -- */

/* bfloat16 is written as the bits in uint16. */
static bool add_tensor(one_case *c, loaded *l, wire_bytes b, int type)
{
    onnx_tensor t;
    if (!eddy__onnx_parse_tensor(&c->memory, b, &t) || l->count == MOST) return false;
    if (type == ONNX_BFLOAT16 && t.type == ONNX_UINT16) t.type = type;
    l->type = t.type;
    l->strings = t.type == ONNX_STRING;
    if (l->strings) return true;
    l->at[l->count] = eddy__onnx_elements(&c->reader, &t);
    return l->at[l->count++] != NULL;
}

/* SequenceProto: tensors are field 3. OptionalProto: a tensor is field 3, a sequence field 5. */
static bool add_items(one_case *c, loaded *l, wire_bytes b, bool optional)
{
    wire       w = eddy__wire_of(b);
    wire_field f;
    bool       ok = true;
    while (ok && eddy__wire_next(&w, &f))
        if (f.number == 3 && f.type == WIRE_BYTES) ok = add_tensor(c, l, f.bytes, ONNX_UNDEFINED);
        else if (f.number == 5 && optional) ok = add_items(c, l, f.bytes, false);
    return ok && !w.bad;
}

static bool load(one_case *c, const char *name, int set, int i, onnx_info *info, loaded *l)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/test_data_set_%d/%s_%d.pb", c->folder, set, name, i);
    source *s = eddy__source_read(path, NULL, INT64_MAX, NULL);
    if (!s) return false;
    c->files[c->n_files++] = s;
    c->reader.base.file = s;
    *l = (loaded){ .kind = info->kind };
    const wire_bytes b = eddy__source_bytes(s);
    if (info->kind == ONNX_TENSOR) return add_tensor(c, l, b, info->type);
    return add_items(c, l, b, info->kind == ONNX_OPTIONAL);
}

static bool is_initializer(const onnx_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializers; i++)
        if (strcmp(g->initializers[i].name, name) == 0) return true;
    return false;
}

/* The inputs of which there is a file: initializers that are also inputs come last. */
static bool load_set(one_case *c, int set)
{
    const onnx_graph *g = c->model.graph;
    c->n_in = c->n_out = 0;
    while (c->n_files > 1) eddy__source_release(c->files[--c->n_files]);
    for (size_t i = 0; i < g->n_inputs && i < MOST; i++) {
        if (is_initializer(g, g->inputs[i].name)) continue;
        if (!load(c, "input", set, c->n_in, &g->inputs[i], &c->in[c->n_in]))
            return says(c, ONNX_WRONG, "input_%d.pb of set %d cannot be read", c->n_in, set);
        c->n_in++;
    }
    for (size_t i = 0; i < g->n_outputs && i < MOST; i++, c->n_out++)
        if (!load(c, "output", set, c->n_out, &g->outputs[i], &c->out[c->n_out]))
            return says(c, ONNX_WRONG, "output_%d.pb of set %d cannot be read", c->n_out, set);
    return true;
}

static const char *input_name(const one_case *c, int i)
{
    for (size_t k = 0; k < c->model.graph->n_inputs; k++)
        if (!is_initializer(c->model.graph, c->model.graph->inputs[k].name) && i-- == 0)
            return c->model.graph->inputs[k].name;
    return "";
}

/* Cases whose data were computed otherwise than the model says. */
static const struct {
    const char *name, *why;
} contradictions[] = {
    { "test_adam_multiple", "the data were computed with epsilon 0.01, and the model has 1e-6" },
};

static bool open_case(one_case *c, const char *folder)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++)
        if (strstr(folder, contradictions[i].name))
            return says(c, ONNX_INEXPRESSIBLE, "%s", contradictions[i].why);
    char path[1000];
    const uint8_t *at;
    c->folder = folder;
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    c->reader.base.path = folder;
    c->files[0] = eddy__source_read(path, NULL, INT64_MAX, NULL);
    if (!c->files[0]) return says(c, ONNX_WRONG, "there is no model.onnx");
    c->n_files = 1;
    if (!eddy__onnx_parse(&c->memory, eddy__source_bytes(c->files[0]), &c->model, &at) ||
        !c->model.graph)
        return says(c, ONNX_WRONG, "model.onnx cannot be parsed");
    return true;
}

static void close_case(one_case *c)
{
    c->reader.base.file = NULL;
    eddy__onnx_close(&c->reader);
    for (int i = 0; i < c->n_files; i++) eddy__source_release(c->files[i]);
    eddy__region_free(&c->memory);
}

/* --------------------------------------------------------------- comparison -- */

/* bfloat16 within a unit in the last place: the data of ONNX 1.12 are truncated, not rounded. */
static bool close_to(double y, double e, eddy_dtype d)
{
    if (d == EDDY_BFLOAT16 && fabs(y - e) <= fabs(e) / 128) return true;
    if (isnan(e) || isnan(y)) return isnan(e) && isnan(y);
    return y == e || fabs(y - e) <= 1e-7 + 1e-3 * fabs(e);
}

static bool compare(one_case *c, const char *name, const eddy_array *y, const eddy_array *e)
{
    char a[100], b[100];
    if (eddy_array_dtype(y) != eddy_array_dtype(e))
        return says(c, ONNX_WRONG, "%s is %s and not %s", name,
                    eddy_dtype_name(eddy_array_dtype(y)), eddy_dtype_name(eddy_array_dtype(e)));
    if (!eddy_shape_equal(eddy_array_shape(y), eddy_array_shape(e)))
        return says(c, ONNX_WRONG, "%s has the shape %s and not %s", name,
                    eddy_shape_print(eddy_array_shape(y), a, sizeof a),
                    eddy_shape_print(eddy_array_shape(e), b, sizeof b));
    for (int64_t i = 0; i < eddy_array_count(e); i++)
        if (!close_to(eddy_array_get(y, i), eddy_array_get(e, i), eddy_array_dtype(e)) ||
            !close_to(eddy_array_get_imag(y, i), eddy_array_get_imag(e, i), eddy_array_dtype(e)))
            return says(c, ONNX_WRONG, "element %lld of %s is %.9g and not %.9g", (long long)i,
                        name, eddy_array_get(y, i), eddy_array_get(e, i));
    return true;
}

/* Random numbers are not compared, as in ONNX's own runner. */
static bool is_random(const one_case *c)
{
    for (size_t i = 0; i < c->model.graph->n_nodes; i++) {
        const char *op = c->model.graph->nodes[i].op;
        if (strcmp(op, "Bernoulli") == 0 || strncmp(op, "Random", 6) == 0) return true;
        const bool trains =
            strcmp(op, "Dropout") == 0 && c->n_in == 3 && eddy_array_item(c->in[2].at[0]) != 0;
        if (trains && eddy_array_item(c->in[1].at[0]) != 0) return true;
    }
    return false;
}

/* ------------------------------------------------------------------- running -- */

typedef struct run {
    eddy_graph       *graph;
    eddy_onnx_model  *model;
    eddy_error        error;
    eddy_feed         feeds[MOST * 4];
    int               n_feeds;
} run;

/* Zeros where the data contradict the shape in the model, as those of castlike_* do, whose values
 * do not matter. */
static eddy_feed feed_of(one_case *c, eddy_tensor t, eddy_array *value)
{
    const eddy_shape s = eddy_shape_of(t);
    if (eddy_shape_compatible(s, eddy_array_shape(value)) || !eddy_shape_is_known(s))
        return (eddy_feed){ t, value };
    eddy_array *zeros = eddy_array_new(eddy_dtype_of(t), s);
    eddy__reading_keep(&c->reader.base, zeros);
    return (eddy_feed){ t, zeros };
}

static eddy_shape known_of(const one_case *c, eddy_shape s)
{
    for (int i = 0; c->open && i < s.rank; i++) s.dim[i] = EDDY_ANY;
    return s;
}

/* Placeholders for sequences and optional values; integer inputs as constants if `bound`. */
static void read_case(one_case *c, run *r, bool bound, bool all)
{
    char              path[1000];
    eddy_model_binding bindings[MOST];
    eddy_tensor       tensors[MOST * 4];
    int               n = 0, used = 0;
    snprintf(path, sizeof path, "%s/model.onnx", c->folder);
    for (int i = 0; i < c->n_in; i++) {
        const loaded *l = &c->in[i];
        const bool constant = bound && l->kind == ONNX_TENSOR && l->count &&
            (all || !eddy_dtype_is_floating(eddy_array_dtype(l->at[0])));
        const bool open = c->open && l->count && !constant;
        if ((l->kind == ONNX_TENSOR && !constant && !open) || used + l->count > MOST * 4) continue;
        bindings[n++] = (eddy_model_binding){ input_name(c, i), { l->count, tensors + used } };
        for (int k = 0; k < l->count; k++) {
            const eddy_dtype d = eddy_array_dtype(l->at[k]);
            tensors[used] = constant ? eddy_constant(r->graph, .value = l->at[k])
                : eddy_placeholder(r->graph, "item", d, known_of(c, eddy_array_shape(l->at[k])));
            if (!constant) r->feeds[r->n_feeds++] = (eddy_feed){ tensors[used], l->at[k] };
            used++;
        }
    }
    r->model =
        eddy_onnx_read(r->graph, path, .inputs = bindings, .input_count = n, .error = &r->error);
    for (int i = 0; r->model && i < c->n_in; i++) {
        bool given = false;
        for (int k = 0; k < n; k++)
            given = given || strcmp(bindings[k].name, input_name(c, i)) == 0;
        if (!given)
            r->feeds[r->n_feeds++] =
                feed_of(c, eddy_onnx_input(r->model, input_name(c, i)), c->in[i].at[0]);
    }
}

static void end_run(run *r)
{
    eddy_onnx_free(r->model);
    eddy_graph_free(r->graph);
    *r = (run){ 0 };
}

static bool begin_run(one_case *c, run *r, bool bound, bool all)
{
    *r = (run){ .graph = eddy_graph_new() };
    read_case(c, r, bound, all);
    return r->model != NULL;
}

static bool compare_outputs(one_case *c, run *r)
{
    eddy_session *s = eddy_session_new(r->graph, .threads = 1);
    for (int i = 0; i < c->n_out && !c->result.why[0]; i++) {
        const char     *name = eddy_onnx_output_name(r->model, i);
        const eddy_list y = eddy_onnx_items(r->model, name);
        if (y.count != c->out[i].count) {
            says(c, ONNX_WRONG, "%s has %d tensors and not %d", name, y.count, c->out[i].count);
            break;
        }
        for (int k = 0; k < y.count && !c->result.why[0]; k++) {
            eddy_array *a = NULL;
            if (eddy_run(s, (eddy_feeds){ r->n_feeds, r->feeds }, EDDY_FETCH(y.at[k]), &a) !=
                EDDY_OK)
                says(c,
                     eddy_session_status(s) == EDDY_UNIMPLEMENTED ? ONNX_INEXPRESSIBLE : ONNX_WRONG,
                     "the run fails: %.900s", eddy_session_message(s));
            else if (is_random(c))
                says(c,
                     eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(c->out[i].at[k]))
                         ? ONNX_PASSED
                         : ONNX_WRONG,
                     "%s", "");
            else compare(c, name, a, c->out[i].at[k]);
            eddy_array_free(a);
        }
    }
    eddy_session_free(s);
    return !c->result.why[0];
}

/* Without constants first, as a program reads a model; then with integer inputs as constants, then
 * with all. */
static bool run_set(one_case *c)
{
    run  r;
    char first[1012] = "";
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].strings) return says(c, ONNX_INEXPRESSIBLE, "an input consists of strings");
    for (int i = 0; i < c->n_out; i++)
        if (c->out[i].strings) return says(c, ONNX_INEXPRESSIBLE, "an output consists of strings");
    for (int how = 0; how < 3; how++) {
        if (begin_run(c, &r, how > 0, how > 1)) {
            c->result.bound = c->result.bound || how > 0;
            const bool ok = compare_outputs(c, &r);
            end_run(&r);
            /* Shapes inside a loop that depend on data need a loop of known length. */
            if (ok || how == 2 || c->result.outcome != ONNX_INEXPRESSIBLE) return ok;
            memcpy(first, c->result.why, sizeof first);
            c->result = (onnx_result){ .sets = c->result.sets };
            continue;
        }
        if (how == 0 || !strstr(r.error.message, "constant"))
            memcpy(first, r.error.message, sizeof first);
        end_run(&r);
    }
    const char *reason = strstr(first, "model.onnx: ");
    return says(c, ONNX_INEXPRESSIBLE, "%s", reason ? reason + 12 : first);
}

static onnx_result run_case(const char *folder, bool open)
{
    one_case *c = calloc(1, sizeof *c);
    c->open = open;
    if (open_case(c, folder)) {
        char  path[1000];
        FILE *f;
        for (int set = 0; set < 100; set++) {
            snprintf(path, sizeof path, "%s/test_data_set_%d/output_0.pb", folder, set);
            f = fopen(path, "rb");
            if (!f) break;
            fclose(f);
            if (!load_set(c, set) || !run_set(c)) break;
            c->result.sets++;
        }
        if (!c->result.sets && !c->result.why[0]) says(c, ONNX_WRONG, "there is no data set");
    }
    close_case(c);
    const onnx_result result = c->result;
    free(c);
    return result;
}

onnx_result run_onnx_case(const char *folder) { return run_case(folder, false); }
onnx_result run_open_onnx_case(const char *folder) { return run_case(folder, true); }

/* ----------------------------------------------------------------- gradients -- */

enum { POINTS = 7 };

/* The data of a case are often at a kink, a step or a pole: there an element is moved. The points
 * are the data themselves, numbers near them, numbers away from multiples of a quarter, positive
 * ones below 1, small ones, and numbers above 1; and again those near the data, with differences
 * over less. */
static double moved(double x, int point, int64_t i, double largest)
{
    const double apart = fmod((double)i * 0.6180339887 + 0.1, 1);
    if (isnan(x) || isinf(x)) x = 0.3;
    switch (point) {
    case 1:
    case 6: return 0.75 * x + 0.2 * apart - 0.1;
    case 2: return (floor(3 * x) + 0.5) / 4;
    case 3: return 0.1 + 0.8 * apart;
    case 4: return 2 * x / (largest + 1) + 0.3 * apart - 0.15;
    case 5: return 1.2 + apart;
    default: return x;
    }
}

static eddy_array *moved_array(const eddy_array *a, int point)
{
    if (point == 0) return eddy_array_retain((eddy_array *)(uintptr_t)a);
    eddy_array *b = eddy_array_copy(a);
    double      largest = 0;
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        largest = fmax(largest, fabs(eddy_array_get(a, i)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(b, i, moved(eddy_array_get(a, i), point, i, largest));
    return b;
}

static bool is_real(eddy_tensor t)
{
    return eddy_dtype_of(t) == EDDY_FLOAT32 || eddy_dtype_of(t) == EDDY_FLOAT64;
}

/* At one of the points. */
static eddy_status check_at(one_case *c, run *r, int point, char *why, size_t size)
{
    eddy_tensor ys[MOST], xs[MOST * 4];
    eddy_feed   feeds[MOST * 4];
    int         n = 0, m = 0;
    for (int i = 0; i < c->n_out; i++) {
        const eddy_list y = eddy_onnx_items(r->model, eddy_onnx_output_name(r->model, i));
        for (int k = 0; k < y.count && n < MOST; k++)
            if (is_real(y.at[k])) ys[n++] = y.at[k];
    }
    for (int i = 0; i < r->n_feeds; i++) {
        const bool real = is_real(r->feeds[i].tensor);
        const bool floating = eddy_dtype_is_floating(eddy_dtype_of(r->feeds[i].tensor));
        feeds[i] =
            (eddy_feed){ r->feeds[i].tensor, moved_array(r->feeds[i].value, floating ? point : 0) };
        if (real) xs[m++] = feeds[i].tensor;
    }
    eddy_status          status = EDDY_OK;
    eddy_gradient_report report = { 0 };
    c->result.sets = n && m;
    if (n && m) {
        eddy_session *s = eddy_session_new(r->graph, .threads = 1);
        const double less = point == 6 ? 8 : 1;
        status = eddy_gradient_check(s, { n, ys }, { m, xs }, { r->n_feeds, feeds },
                                     .delta = ldexp(1, -7) / less, .order = 2,
                                     .absolute = 1e-3 * less, .report = &report);
        if (status != EDDY_OK)
            snprintf(why, size, "%.1000s",
                     status == EDDY_CHECK_FAILED && report.text ? report.text
                     : eddy_graph_status(r->graph)              ? eddy_graph_message(r->graph)
                                                                : eddy_session_message(s));
        eddy_string_free(report.text);
        eddy_session_free(s);
    }
    for (int i = 0; i < r->n_feeds; i++) eddy_array_free((eddy_array *)(uintptr_t)feeds[i].value);
    return status;
}

onnx_result check_onnx_gradient(const char *folder)
{
    one_case   *c = calloc(1, sizeof *c);
    char        why[1200] = "";
    bool        constants = false;
    eddy_status status = EDDY_OK;
    if (open_case(c, folder) && load_set(c, 0) && !is_random(c)) {
        for (int point = 0; point < POINTS; point++) {
            run r;
            if (constants) begin_run(c, &r, true, false);
            else if (!begin_run(c, &r, false, false)) {
                end_run(&r);
                if (!begin_run(c, &r, true, false)) {
                    end_run(&r);
                    break;
                }
            }
            status = check_at(c, &r, point, why, sizeof why);
            end_run(&r);
            c->result.point = point;
            if (status == EDDY_UNIMPLEMENTED && !constants) {
                constants = true;       /* a shape inside a loop depends on data */
                continue;
            }
            if (status == EDDY_OK || status == EDDY_NO_GRADIENT || status == EDDY_UNIMPLEMENTED)
                break;
        }
        if (status != EDDY_OK)
            says(c,
                 status == EDDY_NO_GRADIENT || status == EDDY_UNIMPLEMENTED ? ONNX_INEXPRESSIBLE
                                                                            : ONNX_WRONG,
                 "%s", why);
    }
    close_case(c);
    const onnx_result result = c->result;
    free(c);
    return result;
}

/* --------------------------------------------------------------------- names -- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **names_in(const char *folder, int *count)
{
    DIR   *d = opendir(folder);
    char **names = calloc(4096, sizeof *names);
    int    n = 0;
    for (struct dirent *e; d && n < 4095 && (e = readdir(d));)
        if (e->d_name[0] != '.') names[n++] = strdup(e->d_name);
    if (d) closedir(d);
    qsort(names, (size_t)n, sizeof *names, by_name);
    *count = n;
    return names;
}

void free_names(char **names)
{
    for (int i = 0; names && names[i]; i++) free(names[i]);
    free(names);
}
