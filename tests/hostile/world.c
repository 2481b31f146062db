#define _DEFAULT_SOURCE
#include "tests/hostile/world.h"
#include "tests/hostile/ranks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_KINDS = 32, KEPT = 12, MOST_BYTES = 1 << 28 };

/* Objects of one kind: those that exist, and handles that were freed. */
typedef struct pool {
    void *at[KEPT], *gone[KEPT];
    int   n, n_gone;
} pool;

static const object_kind *kinds;
static int                n_kinds;
static pool               pools[MOST_KINDS];
static uint64_t           state;
static eddy_tensor        tensors[64];
static unsigned           n_tensors;
static const char        *calling;
static outcomes          *counts;

/* ------------------------------------------------------------------ numbers -- */

uint64_t draw_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 11;
}

int draw(int n) { return (int)((draw_bits() >> 22) % (uint64_t)n); }

static bool       mild;
static eddy_shape shape;

bool       world_is_mild(void) { return mild; }
eddy_shape world_shape(void) { return shape; }
bool seldom(int n) { return draw(mild ? 10 * n : n) == 0; }

/* ------------------------------------------------------------------- memory -- */

static atomic_llong in_use;

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (size > MOST_BYTES) return NULL;
    if (atomic_fetch_add(&in_use, (long long)size) + (long long)size > MOST_BYTES) {
        atomic_fetch_sub(&in_use, (long long)size);
        return NULL;
    }
    void *p = malloc(size);
    if (!p) atomic_fetch_sub(&in_use, (long long)size);
    return p;
}

static void release(void *context, void *p, size_t size)
{
    (void)context;
    if (p) atomic_fetch_sub(&in_use, (long long)size);
    free(p);
}

const eddy_allocator limited = { allocate, release, NULL };

enum { MOST_BLOCKS = 4096, MOST_ERRORS = 16 };
static void       *blocks[MOST_BLOCKS];
static int         n_blocks, n_errors;
static eddy_error *errors[MOST_ERRORS];

void *scratch(size_t size)
{
    if (n_blocks == MOST_BLOCKS) return NULL;
    void *p = calloc(1, size ? size : 1);
    if (!p) abort();
    return blocks[n_blocks++] = p;
}

void scratch_free(void)
{
    while (n_blocks > 0) free(blocks[--n_blocks]);
    n_errors = 0;
}

eddy_error *scratch_error(void)
{
    if (draw(4) == 0 || n_errors == MOST_ERRORS) return NULL;
    return errors[n_errors++] = scratch(sizeof(eddy_error));
}

room here = { ENOUGH, 0 };

room room_begin(bool counted)
{
    const room outer = here;
    here = (room){ counted ? draw(7) : ENOUGH, 0 };
    return outer;
}

void room_end(room outer) { here = outer; }

int draw_count(void)
{
    static const int all[] = { 0, -1, 1, 2, 5, -5, 9, 100, 65536, INT32_MAX, INT32_MIN };
    if (here.arrays == 0) return all[draw(sizeof all / sizeof *all)];
    if (seldom(12)) return draw(2) ? -1 : INT32_MIN;
    return draw(4) ? here.entries : draw(here.entries + 1);
}

size_t draw_bytes(void)
{
    if (here.arrays == 0) return (size_t)draw_count();
    return (size_t)(draw(4) ? here.entries : draw(here.entries + 1));
}

/* ------------------------------------------------------------------ objects -- */

int object_kind_named(const char *name)
{
    for (int i = 0; i < n_kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return i;
    abort();
}

void objects_begin(const object_kind *given, int n, outcomes *of)
{
    counts = of;
    kinds = given;
    n_kinds = n;
    if (n > MOST_KINDS) abort();
}

/* Kinds whose freed handles the library recognizes, as in calls.awk. */
static bool is_checked(int kind)
{
    static const char *const all[] = { "eddy_graph", "eddy_session", "eddy_optimizer", "eddy_tape",
                                       "eddy_callable" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(kinds[kind].name, all[i]) == 0) return true;
    return false;
}

static void make_session(void)
{
    eddy_session *s = eddy_session_new(world_graph(), .max_bytes = 1 << 26, .timeout = 0.2);
    object_keep(object_kind_named("eddy_session"), s);
}

void *object_any(int kind)
{
    static const uintptr_t wrong[] = { 8, 64, UINTPTR_MAX - 15, (uintptr_t)EDDY_OMITTED };
    pool     *p = &pools[kind];
    const int k = draw(24);
    if (k == 0) return NULL;
    if (k == 1 && is_checked(kind)) {
        if (p->n_gone > 0 && draw(2)) return p->gone[draw(p->n_gone)];
        return (void *)wrong[draw(4)];
    }
    if (kind == object_kind_named("eddy_graph") && draw(8)) return world_graph();
    if (p->n == 0 && kind == object_kind_named("eddy_session")) make_session();
    if (p->n == 0 && kind == object_kind_named("eddy_communicator")) call_eddy_communicator_new();
    if (p->n == 0) return NULL;
    return p->at[draw(p->n)];
}

static bool is_among(void *const *at, int n, const void *object)
{
    for (int i = 0; i < n; i++)
        if (at[i] == object) return true;
    return false;
}

bool object_is_freed(const void *object)
{
    bool freed = false;
    for (int k = 0; k < n_kinds; k++) {
        if (is_among(pools[k].at, pools[k].n, object)) return false;
        freed = freed || is_among(pools[k].gone, pools[k].n_gone, object);
    }
    return freed;
}

bool is_foreign(eddy_tensor t)
{
    const pool *p = &pools[object_kind_named("eddy_graph")];
    return t.graph != world_graph() && is_among(p->at, p->n, t.graph);
}

static void forget(pool *p, int i)
{
    void *object = p->at[i];
    p->at[i] = p->at[--p->n];
    p->gone[p->n_gone < KEPT ? p->n_gone++ : draw(KEPT)] = object;
}

/* Objects of a graph are freed with it, and the library does not recognize their handles. Nor does
 * it recognize values that point into it, such as cells of recurrent networks. */
static void forget_parts_of_graphs(void)
{
    forget_values();
    pools[object_kind_named("eddy_averages")].n = 0;
    pools[object_kind_named("eddy_attention_mechanism")].n = 0;
}

void *object_take(int kind)
{
    pool *p = &pools[kind];
    void *object = object_any(kind);
    for (int i = p->n - 1; i >= 0; i--)
        if (p->at[i] == object) {
            forget(p, i);
            break;
        }
    if (kind == object_kind_named("eddy_graph")) forget_parts_of_graphs();
    return object;
}

/* Released after the call, which may have been given them. */
enum { OLD = 256 };
typedef struct old_object {
    int   kind;
    void *object;
} old_object;
static old_object old[OLD];
static int        n_old;

static void release_old(void)
{
    while (n_old > 0) {
        const old_object o = old[--n_old];
        if (kinds[o.kind].release) kinds[o.kind].release(o.object);
    }
}

void object_keep(int kind, const void *object)
{
    pool *p = &pools[kind];
    if (!object) return;
    if (is_checked(kind) || !kinds[kind].release)
        for (int i = 0; i < p->n; i++)
            if (p->at[i] == object) return;
    for (int i = p->n_gone - 1; i >= 0; i--)
        if (p->gone[i] == object) p->gone[i] = p->gone[--p->n_gone];
    if (p->n == KEPT) {
        const int i = 1 + draw(KEPT - 1);
        if (n_old < OLD) old[n_old++] = (old_object){ kind, p->at[i] };
        forget(p, i);
        if (kind == object_kind_named("eddy_graph")) forget_parts_of_graphs();
    }
    p->at[p->n++] = (void *)(uintptr_t)object;
}

/* Memory and time of evaluations are limited, since a loop may have no end. */
static eddy_graph *new_graph(void)
{
    eddy_graph *g = eddy_graph_new(.allocator = &limited);
    if (!g) abort();
    eddy_session_set_timeout(eddy_eval_session(g), 0.2);
    return g;
}

eddy_graph *world_graph(void)
{
    const int kind = object_kind_named("eddy_graph");
    if (pools[kind].n == 0) object_keep(kind, new_graph());
    return pools[kind].at[0];
}

void arguments_end(void)
{
    if (!seldom(8)) eddy_graph_clear_error(world_graph());
}

eddy_tensor tensor_kept(void)
{
    const unsigned most = sizeof tensors / sizeof *tensors;
    if (n_tensors == 0) return eddy_scalar(world_graph(), 1);
    return tensors[(unsigned)draw((int)(n_tensors < most ? n_tensors : most))];
}

void tensor_keep(eddy_tensor t)
{
    const bool valid = eddy_is_valid(t);
    counts->built += valid;
    if (valid || seldom(8))
        tensors[n_tensors++ % (sizeof tensors / sizeof *tensors)] = t;
}

/* ------------------------------------------------------------------- checks -- */

void complain(const char *call, const char *what, const char *message)
{
    fprintf(stderr, "FOUND %s: %s (%s)\n", call, what, message ? message : "");
    _exit(3);
}

static atomic_ullong sum;               /* so that what is read counts as used */

void text_is_whole(const char *text)
{
    if (text) atomic_fetch_add(&sum, strlen(text));
}

void array_is_whole(const eddy_array *a)
{
    const unsigned char *p = eddy_array_data(a);
    const size_t         n = eddy_array_bytes(a);
    for (size_t i = 0; p && i < n; i += 64) atomic_fetch_add(&sum, p[i]);
    if (p && n > 0) atomic_fetch_add(&sum, p[n - 1]);
}

void check_status(eddy_status s)
{
    if (s == EDDY_OK) counts->done++;
    else counts->refused++;
    if ((int)s < 0 || s > EDDY_TIMED_OUT) complain(calling, "not a status", NULL);
}

static void check_message(const char *call, eddy_status s, const char *message)
{
    if (s == EDDY_OK) return;
    if (!message || !*message) complain(call, "an error without a sentence", eddy_status_name(s));
    /* operations of our own have defects */
    if (s == EDDY_INTERNAL && !strstr(message, "Hostile")) complain(call, "a defect", message);
}

void world_check(const char *call, bool tells)
{
    const pool *g = &pools[object_kind_named("eddy_graph")];
    const pool *s = &pools[object_kind_named("eddy_session")];
    calling = call;
    for (int i = 0; i < n_errors; i++) check_message(call, errors[i]->status, errors[i]->message);
    for (int i = 0; i < s->n; i++)
        check_message(call, eddy_session_status(s->at[i]), eddy_session_message(s->at[i]));
    for (int i = 0; i < g->n; i++) {
        check_message(call, eddy_graph_status(g->at[i]), eddy_graph_message(g->at[i]));
        if (eddy_graph_status(g->at[i]) != EDDY_OK) counts->refused++;
        if (tells) fprintf(stderr, "    %.300s\n", eddy_graph_message(g->at[i]));
        if (draw(8)) eddy_graph_clear_error(g->at[i]);
    }
    release_old();
}

/* ------------------------------------------------------------------- worlds -- */

static void note_freed(const char *kind, void *object)
{
    pool *p = &pools[object_kind_named(kind)];
    p->gone[p->n_gone++] = object;
}

/* A handle of each kind that the library recognizes, and a tensor of the graph. */
static void make_freed(void)
{
    eddy_graph       *g = eddy_graph_new(.allocator = &limited);
    eddy_session     *s = eddy_session_new(g);
    const eddy_tensor one = eddy_scalar(g, 1);
    tensor_keep(one);
    note_freed("eddy_callable", eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(one)));
    note_freed("eddy_optimizer", eddy_gradient_descent(g, one));
    note_freed("eddy_tape", eddy_tape_new(g));
    note_freed("eddy_session", s);
    note_freed("eddy_graph", g);
    eddy_session_free(s);
    eddy_graph_free(g);
}

void world_begin(uint64_t seed)
{
    state = seed * 0x9E3779B97F4A7C15u + 12345;
    mild = draw(2);
    shape = (eddy_shape){ .rank = draw(5) };
    for (int i = 0; i < shape.rank; i++) shape.dim[i] = 1 + draw(4);
    n_tensors = 0;
    memset(pools, 0, sizeof pools);
    world_graph();
    eddy_graph *other = new_graph();
    object_keep(object_kind_named("eddy_graph"), other);
    tensor_keep(eddy_placeholder(other, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    make_freed();
}

/* Whatever was called, the graph still builds and runs. */
static void check_graph(void)
{
    eddy_graph *g = world_graph();
    eddy_array *out = NULL;
    if (eddy_graph_is_finalized(g)) return;
    eddy_graph_clear_error(g);
    eddy_control_clear(g);
    const eddy_tensor three = eddy_add(eddy_scalar(g, 1), eddy_scalar(g, 2));
    eddy_session     *s = eddy_session_new(g);
    const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_LIST(three), &out);
    if (status != EDDY_NO_MEMORY && status != EDDY_LIMIT &&
        (status != EDDY_OK || eddy_array_item(out) != 3))
        complain("world_end", "1 + 2", eddy_session_message(s));
    eddy_array_free(out);
    eddy_session_free(s);
}

static void release_all(int kind)
{
    pool *p = &pools[kind];
    while (p->n > 0) {
        void *object = p->at[--p->n];
        if (kinds[kind].release) kinds[kind].release(object);
    }
}

void world_end(void)
{
    const int graph = object_kind_named("eddy_graph"), session = object_kind_named("eddy_session");
    check_graph();
    for (int i = 0; i < n_kinds; i++)
        if (i != graph && i != session) release_all(i);
    release_all(session);
    release_all(graph);
    if (atomic_load(&in_use) != 0) complain("world_end", "memory is left", NULL);
}
