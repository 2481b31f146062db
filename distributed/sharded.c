/* sharded.c -- optimizers whose slots and gradients are divided among the ranks (ZeRO, Rajbhandari
 * et al. 2020, stages 1 and 2; divided_variables.c adds stage 3).
 *
 * Each variable belongs to one rank, the owner, whose optimizer alone has its slots and updates
 * it. Gradients are reduced to owners, and new values are broadcast from them. Whole variables
 * are divided, not pieces of them: so any optimizer works, and slots have their usual names and
 * shapes. */
#include "distributed/averaging.h"
#include "distributed/division.h"
#include "distributed/training.h"

#include "ops/short_names.h"
#include "optim/variable_parts.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ owners -- */

typedef struct owned {
    int32_t variable;                /* the id of its node */
    int     owner;
} owned;

/* The graph owns it. */
typedef struct sharding {
    averaging average;
    bool      averaged;              /* gradients are given as averages */
    int       ranks, me;
    owned    *owned;
    int       n, capacity;
    int64_t  *load;                  /* bytes of each rank's variables */
} sharding;

static void sharding_free(void *at)
{
    sharding *s = at;
    free(s->owned);
    free(s->load);
    free(s);
}

/* Gives the variable to the rank that has least; that rank, or -1 with an error on the graph. */
static int give(sharding *s, eddy_tensor v)
{
    int least = 0;
    if (s->n == s->capacity) {
        const int bigger = s->capacity ? 2 * s->capacity : 16;
        owned    *more = realloc(s->owned, (size_t)bigger * sizeof *more);
        if (!more) {
            eddy_fail(v.graph, EDDY_NO_MEMORY, "Sharded: out of memory");
            return -1;
        }
        s->owned = more;
        s->capacity = bigger;
    }
    for (int r = 1; r < s->ranks; r++)
        if (s->load[r] < s->load[least]) least = r;
    s->load[least] += eddy__bytes_of(v, 1);
    s->owned[s->n++] = (owned){ v.node, least };
    return least;
}

static int find(const sharding *s, eddy_tensor v)
{
    for (int i = 0; i < s->n; i++)
        if (s->owned[i].variable == v.node) return s->owned[i].owner;
    return -1;
}

static int largest_first(const void *a, const void *b)
{
    const eddy_tensor *x = a, *y = b;
    const int64_t      m = eddy__bytes_of(*x, 1), n = eddy__bytes_of(*y, 1);
    return m != n ? (m < n) - (m > n) : (x->node > y->node) - (x->node < y->node);
}

/* Divides the trainable variables, the largest first. */
static void divide(sharding *s, eddy_graph *g)
{
    const int    n = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES);
    eddy_tensor *all = malloc((size_t)n * sizeof *all + 1);
    if (!all) eddy_fail(g, EDDY_NO_MEMORY, "Sharded: out of memory");
    for (int i = 0; all && i < n; i++) all[i] = eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i);
    if (all && n > 1) qsort(all, (size_t)n, sizeof *all, largest_first);
    for (int i = 0; all && i < n; i++)
        if (find(s, all[i]) < 0 && !eddy__has_part(all[i], s->average.communicator))
            give(s, all[i]);
    free(all);
}

/* The same on all ranks, since they build the same graph. EVERY: each rank has a part of the
 * variable, and the slots of this part. */
enum { EVERY = -2 };
static int owner_of(sharding *s, eddy_tensor v)
{
    if (eddy__has_part(v, s->average.communicator)) return EVERY;
    if (find(s, v) < 0) divide(s, v.graph);
    const int owner = find(s, v);
    return owner >= 0 ? owner : give(s, v);
}

static bool is_mine(void *context, eddy_tensor variable)
{
    sharding *s = context;
    const int owner = owner_of(s, variable);
    return owner == s->me || owner == EVERY;
}

/* --------------------------------------------------------------- exchanges -- */

/* Tensors of one type, for variables of one owner, that travel together. */
typedef struct parcel {
    int     n, at[EDDY_MAX_BUCKET];  /* numbers in a list */
    int64_t bytes;
} parcel;

static eddy_tensor shaped(eddy_gradient_pair p)
{
    if (eddy_shape_is_known(eddy_shape_of(p.gradient))) return p.gradient;
    return eddy_reshape_like(p.gradient, p.variable);
}

/* Reduces gradients to the owner. */
static void reduce(const sharding *s, eddy_communicator *c, int owner, eddy_gradient_pair *pairs,
                   parcel *p)
{
    const averaging *a = &s->average;
    const bool       mean = eddy__averaging_reduction(a) == EDDY_REDUCE_MEAN;
    eddy_tensor      x[EDDY_MAX_BUCKET], y[EDDY_MAX_BUCKET];
    if (p->n == 0) return;
    for (int i = 0; i < p->n; i++) x[i] = eddy__weighted(a, shaped(pairs[p->at[i]]));
    eddy__rooted_list(&eddy__op_reduce_to_root, c, owner, p->n, x, y);
    for (int i = 0; i < p->n; i++)
        pairs[p->at[i]].gradient = mean && owner == s->me ? Div(y[i], (double)s->ranks) : y[i];
    *p = (parcel){ 0 };
}

static void average_parts(const sharding *s, eddy_gradient_pair *pairs, int count)
{
    for (int i = 0; i < count; i++)
        if (pairs[i].gradient.node != 0)
            eddy__average_part(&s->average, "Sharded", s->ranks, &pairs[i]);
}

static void reduce_to_owners(void *context, eddy_gradient_pair *pairs, int count)
{
    sharding          *s = context;
    eddy_communicator *c = eddy__averaging_begin(&s->average, "Sharded",
                                                 count > 0 ? pairs[0].variable.graph : NULL);
    const int64_t most = s->average.bucket_bytes;
    if (c) average_parts(s, pairs, count);
    for (int r = 0; c && r < s->ranks; r++) {
        parcel parcels[EDDY_DTYPES] = { 0 };
        for (int i = count - 1; i >= 0; i--) {
            eddy_tensor values, indices;
            if (pairs[i].gradient.node == 0 || owner_of(s, pairs[i].variable) != r) continue;
            if (eddy_slices_parts(pairs[i].gradient, &values, &indices)) {
                pairs[i].gradient = eddy__gathered(&s->average, c, pairs[i], values, indices);
                continue;
            }
            parcel       *p = &parcels[eddy_dtype_of(pairs[i].variable)];
            const int64_t bytes = eddy__bytes_of(pairs[i].variable, most);
            if (p->n == EDDY_MAX_BUCKET || (p->n > 0 && p->bytes + bytes > most))
                reduce(s, c, r, pairs, p);
            p->at[p->n++] = i;
            p->bytes += bytes;
        }
        for (int d = 0; d < EDDY_DTYPES; d++) reduce(s, c, r, pairs, &parcels[d]);
    }
    if (c) eddy__communicator_give(c);
}

/* Sets variables to the owner's values; also on the owner, where they are the same, so that each
 * rank's step needs the collective. What other ranks have in `values` does not travel. */
static void spread(eddy_communicator *c, int owner, const eddy_tensor *variables,
                   const eddy_tensor *values, parcel *p, eddy_tensor *done)
{
    eddy_tensor x[EDDY_MAX_BUCKET], y[EDDY_MAX_BUCKET];
    if (p->n == 0) return;
    for (int i = 0; i < p->n; i++) x[i] = values[p->at[i]];
    eddy__rooted_list(&eddy__op_broadcast_from_root, c, owner, p->n, x, y);
    for (int i = 0; i < p->n; i++) done[p->at[i]] = eddy_assign(variables[p->at[i]], y[i]);
    *p = (parcel){ 0 };
}

static eddy_tensor spread_all(sharding *s, eddy_communicator *c, int count,
                              const eddy_tensor *variables, const eddy_tensor *values,
                              eddy_tensor *done)
{
    const int64_t most = s->average.bucket_bytes;
    for (int i = 0; i < count; i++)
        if (owner_of(s, variables[i]) == EVERY) done[i] = values[i];
    for (int r = 0; r < s->ranks; r++) {
        parcel parcels[EDDY_DTYPES] = { 0 };
        for (int i = 0; i < count; i++) {
            parcel       *p = &parcels[eddy_dtype_of(variables[i])];
            const int64_t bytes = eddy__bytes_of(variables[i], most);
            if (owner_of(s, variables[i]) != r) continue;
            if (p->n == EDDY_MAX_BUCKET || (p->n > 0 && p->bytes + bytes > most))
                spread(c, r, variables, values, p, done);
            p->at[p->n++] = i;
            p->bytes += bytes;
        }
        for (int d = 0; d < EDDY_DTYPES; d++) spread(c, r, variables, values, &parcels[d], done);
    }
    return eddy_group(variables[0].graph, (eddy_list){ count, done }, NULL);
}

static eddy_tensor broadcast_new_values(void *context, int count, const eddy_tensor *variables,
                                        const eddy_tensor *values)
{
    sharding          *s = context;
    eddy_graph        *g = variables[0].graph;
    eddy_communicator *c = eddy__communicator_take(s->average.communicator);
    eddy_tensor       *done = malloc((size_t)count * sizeof *done), all = eddy_none(g);
    if (!c) eddy_fail(g, EDDY_CLOSED, "Sharded: the communicator has been freed");
    else if (!done) eddy_fail(g, EDDY_NO_MEMORY, "Sharded: out of memory");
    else all = spread_all(s, c, count, variables, values, done);
    free(done);
    if (c) eddy__communicator_give(c);
    return all;
}

/* ------------------------------------------------------------- constructor -- */

static sharding *sharding_new(eddy_graph *g, const eddy_sharded_args *a)
{
    sharding *s = calloc(1, sizeof *s);
    int64_t  *load = calloc((size_t)a->communicator->n, sizeof *load);
    if (!s || !load) {
        free(s);
        free(load);
        eddy_fail(g, EDDY_NO_MEMORY, "Sharded: out of memory");
        return NULL;
    }
    *s = (sharding){ .average = { .communicator = a->communicator->id, .examples = a->examples,
                                  .sum = a->sum, .bucket_bytes = a->bucket_bytes },
                     .averaged = a->averaged,
                     .ranks = a->communicator->n, .me = a->communicator->me, .load = load };
    return eddy_graph_own(g, s, sharding_free) ? s : NULL;
}

eddy_optimizer *eddy_sharded_with(const eddy_sharded_args *given)
{
    eddy_sharded_args a = { .size_ = sizeof a, .bucket_bytes = 4194304 };
    eddy_copy_options(&a, given);
    eddy_graph *g = eddy_optimizer_graph(a.optimizer);
    if (!g) return NULL;
    if (!a.communicator)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Sharded: there is no communicator");
    else if (a.sum && a.examples.graph)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Sharded: `examples` weights an average, not a sum");
    else if (a.averaged && (a.sum || a.examples.graph))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Sharded: gradients that are averaged already are not summed or weighted");
    else if (a.bucket_bytes < 1)
        eddy_fail(g, EDDY_OUT_OF_RANGE, "Sharded: bucket_bytes is %lld; it must be positive",
                  (long long)a.bucket_bytes);
    if (eddy_graph_status(g) != EDDY_OK) return NULL;
    const char *name = a.name ? a.name : "Sharded";
    sharding   *s = sharding_new(g, &a);
    if (!s) return NULL;
    eddy_optimizer_sum_parts(a.optimizer, eddy__sum_over_ranks);
    eddy_optimizer *o =
        eddy_selected_updates(a.optimizer, .selects = is_mine, .complete = broadcast_new_values,
                              .context = s, .name = name);
    if (a.averaged || !o) return o;
    return eddy_transformed_gradients(o, .transform = reduce_to_owners, .context = s, .name = name);
}
