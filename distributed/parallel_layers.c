/* parallel_layers.c -- layers whose variables are divided among the ranks.
 *
 * Each rank builds the layer of one process with fewer columns, rows or heads; a function that
 * creates the variables takes the rank's part of the initial values of the whole layer. */
#include "distributed/collectives.h"
#include "distributed/parallel_layers.h"
#include "distributed/division.h"

#include "ops/short_names.h"

#include <string.h>

enum { NAME = EDDY_MAX_NAME + 16 };

/* What the layer under construction divides. */
typedef struct dividing {
    const eddy_communicator *communicator;
    bool                     rows;
} dividing;

/* The last part of the open scope: "qkv" of "block/attention/qkv/". */
static void innermost_scope(eddy_graph *g, char out[NAME])
{
    snprintf(out, NAME, "%s", eddy_scope_name(g));
    const size_t n = strlen(out);
    if (n > 0 && out[n - 1] == '/') out[n - 1] = '\0';
    const char *slash = strrchr(out, '/');
    if (slash) memmove(out, slash + 1, strlen(slash));
}

/* A bias that all ranks have: only rank 0 adds it, since values are summed, and each rank has its
 * whole gradient. */
static eddy_tensor added_once(const eddy_communicator *c, eddy_tensor bias)
{
    const eddy_tensor zero = ZerosLike(bias);
    return eddy_grad_pass_through(c->me == 0 ? bias : zero, bias);
}

/* r describes this rank's part. */
static eddy_tensor create(const dividing *d, const eddy_variable_request *r, bool rows, int groups)
{
    const eddy_communicator *c = d->communicator;
    eddy_variable_request    whole = *r;
    const bool               bias = strcmp(r->name, "bias") == 0;
    eddy_division            division = { .communicator = c->id, .ranks = c->n, .rank = c->me,
                                          .axis = rows || bias ? 0 : r->shape.rank - 1,
                                          .groups = groups };
    if (rows && bias) return added_once(c, eddy_create_variable(r));
    whole.shape.dim[division.axis] *= c->n;
    division.whole = whole.shape;
    return eddy__create_part(&whole, &division);
}

static eddy_tensor create_of_dense(void *context, const eddy_variable_request *r)
{
    const dividing *d = context;
    return create(d, r, d->rows, 1);
}

/* The layers inside multi-head attention have names. */
static eddy_tensor create_of_attention(void *context, const eddy_variable_request *r)
{
    char layer[NAME];
    innermost_scope(r->graph, layer);
    return create(context, r, strcmp(layer, "attention_output") == 0,
                  strcmp(layer, "qkv") == 0 ? 3 : strcmp(layer, "key_value") == 0 ? 2 : 1);
}

/* ------------------------------------------------------------------ checks -- */

static bool penalizes(eddy_regularizer r) { return r.build || r.l1 != 0 || r.l2 != 0; }

/* Whether this can be a divided layer; reports what is wrong. */
static bool fits(eddy_graph *g, const char *who, const eddy_communicator *c, const char *reuse,
                 bool regularized)
{
    if (!g) return false;
    if (!c) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: there is no communicator", who);
    else if (reuse)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: variables that are divided cannot be reused", who);
    else if (regularized)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a regularizer would see a part of the variable",
                  who);
    return eddy_graph_status(g) == EDDY_OK;
}

static bool divides(eddy_graph *g, const char *who, const eddy_communicator *c, const char *what,
                    int64_t n)
{
    if (n % c->n != 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: %s is %lld; expected a multiple of the number of ranks, %d", who, what,
                  (long long)n, c->n);
    return n % c->n == 0;
}

/* ------------------------------------------------------------------ gather -- */

/* The sum of how many rows the ranks from..to-1 have. */
static eddy_tensor rows_of(eddy_tensor rows, int from, int to)
{
    return Reshape(Sum(eddy_slice(rows, EDDY_DIMS(from), EDDY_DIMS(to - from))), EDDY_SHAPE(1));
}

/* A sum of arrays that have rows of one rank and zeros: its gradient, to any order, is that of
 * eddy_reduce_from_ranks and of padding. */
eddy_tensor eddy_gather_from_ranks(eddy_communicator *c, eddy_tensor x)
{
    const int rank = eddy_shape_of(x).rank;
    char      text[128];
    if (!fits(x.graph, "gather_from_ranks", c, NULL, false)) return eddy_none(x.graph);
    if (rank < 1)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "gather_from_ranks: x has shape %s; its rank must be known and at least 1",
                         eddy_shape_print(eddy_shape_of(x), text, sizeof text));
    const eddy_tensor rows = eddy_all_gather(c, Reshape(eddy_size_along(x, 0), EDDY_SHAPE(1)));
    const eddy_tensor others = eddy_const(x.graph, EDDY_INT64, EDDY_SHAPE(rank - 1),
                                          (int64_t[EDDY_MAX_RANK]){ 0 });
    const eddy_tensor before = eddy_concat(EDDY_LIST(rows_of(rows, 0, c->me), others), 0);
    const eddy_tensor after = eddy_concat(EDDY_LIST(rows_of(rows, c->me + 1, c->n), others), 0);
    return eddy_reduce_from_ranks(c, eddy_pad_to(x, before, after));
}

/* ------------------------------------------------------------------- dense -- */

static eddy_tensor divided_dense(eddy_communicator *c, const eddy_dense_args *a, bool rows)
{
    dividing d = { c, rows };
    eddy_variable_creator_begin(a->x.graph, create_of_dense, &d);
    const eddy_tensor y = eddy_dense_with(a);
    eddy_variable_creator_end(a->x.graph);
    return y;
}

eddy_tensor eddy_column_dense_with(eddy_communicator *c, const eddy_dense_args *given)
{
    eddy_dense_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    const bool regularized = penalizes(a.kernel_regularizer) || penalizes(a.bias_regularizer);
    if (!fits(a.x.graph, "column_dense", c, a.reuse, regularized) ||
        !divides(a.x.graph, "column_dense", c, "units", a.units))
        return eddy_none(a.x.graph);
    if (a.units < 1) return eddy_dense_with(&a);                /* reports the error */
    a.units /= c->n;
    a.x = eddy_copy_to_ranks(c, a.x);
    return divided_dense(c, &a, false);
}

eddy_tensor eddy_row_dense_with(eddy_communicator *c, const eddy_dense_args *given)
{
    eddy_dense_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    const eddy_activation activation = a.activation;
    const bool regularized = penalizes(a.kernel_regularizer) || penalizes(a.bias_regularizer);
    if (!fits(a.x.graph, "row_dense", c, a.reuse, regularized)) return eddy_none(a.x.graph);
    a.activation = NULL;
    const eddy_tensor part = divided_dense(c, &a, true);
    if (!eddy_is_valid(part)) return part;
    const eddy_tensor y = eddy_reduce_from_ranks(c, part);
    return activation && eddy_is_valid(y) ? activation(y) : y;
}

/* --------------------------------------------------------------- embedding -- */

/* The number of each id among the rows of this rank; -1: it is another rank's. Fails the run for
 * one that is nobody's. */
static eddy_tensor own_rows(const eddy_division *d, eddy_tensor ids)
{
    const eddy_dtype  t = eddy_dtype_of(ids);
    const int64_t     begin = eddy__division_begin(d, d->rank);
    const int64_t     end = eddy__division_begin(d, d->rank + 1);
    const eddy_tensor n = eddy_number(ids.graph, t, (double)d->whole.dim[0]);
    const eddy_tensor checks[] = {
        eddy_assert_non_negative(ids, .message = "parallel_embedding: an id is negative"),
        eddy_assert_less(ids, n, .message = "parallel_embedding: an id is not in the vocabulary")
    };
    eddy_control_begin(ids.graph, (eddy_list){ 2, checks });
    eddy_tensor checked = eddy_identity(ids);
    eddy_control_end(ids.graph);
    const eddy_tensor mine =
        eddy_logical_and(eddy_greater_equal(checked, eddy_number(ids.graph, t, (double)begin)),
                         eddy_less(checked, eddy_number(ids.graph, t, (double)end)));
    return Where(mine, Sub(checked, (double)begin), eddy_number(ids.graph, t, -1));
}

static eddy_tensor lookup(eddy_communicator *c, const eddy_embedding_layer_args *a)
{
    eddy_graph         *g = a->ids.graph;
    const eddy_division d = { .communicator = c->id, .ranks = c->n, .rank = c->me, .groups = 1,
                              .whole = EDDY_SHAPE(a->input_dim, a->output_dim) };
    const eddy_init     init = a->embeddings_initializer;
    const bool          given = init.build || init.kind || init.value.graph;
    eddy_scope_begin(g, a->name ? a->name : "embedding");
    eddy_control_clear(g);
    const eddy_tensor table = eddy__create_part(
        &(eddy_variable_request){
            .graph = g, .name = "embeddings", .dtype = a->dtype ? a->dtype : EDDY_FLOAT32,
            .shape = d.whole, .init = given ? init : eddy_random_uniform_initializer(-0.05, 0.05),
            .seed = a->seed, .not_trainable = a->not_trainable },
        &d);
    eddy_control_end(g);
    eddy_tensor y = eddy_none(g);
    if (eddy_is_valid(table))
        y = eddy_reduce_from_ranks(c,
                                   eddy_gather(table, own_rows(&d, a->ids), .skip_negative = true));
    eddy_scope_end(g);
    return y;
}

eddy_tensor eddy_parallel_embedding_with(eddy_communicator *c,
                                         const eddy_embedding_layer_args *given)
{
    eddy_embedding_layer_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    eddy_graph *g = a.ids.graph;
    if (!fits(g, "parallel_embedding", c, a.reuse, penalizes(a.embeddings_regularizer)))
        return eddy_none(g);
    if (!eddy_is_valid(a.ids)) return eddy_identity(a.ids);
    if (a.input_dim < c->n || a.output_dim < 1)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "parallel_embedding: the table is [%lld,%lld]; expected a vector for each "
                         "of the ranks, %d, and a positive size",
                         (long long)a.input_dim, (long long)a.output_dim, c->n);
    if (!eddy_dtype_is_integer(eddy_dtype_of(a.ids)) || eddy_dtype_of(a.ids) == EDDY_UINT8)
        return eddy_fail(g, EDDY_BAD_DTYPE,
                         "parallel_embedding: ids is %s; int32 or int64 expected",
                         eddy_dtype_name(eddy_dtype_of(a.ids)));
    return lookup(c, &a);
}

/* --------------------------------------------------------------- attention -- */

/* The mask of this rank's heads: [batch, heads, s, t], or without heads. */
static eddy_tensor mask_of_heads(eddy_communicator *c, eddy_tensor mask, int64_t heads)
{
    const eddy_shape s = eddy_shape_of(mask);
    char             text[128];
    if (!mask.graph) return mask;
    if (s.rank > 2 && s.dim[s.rank - 3] > 1 && s.dim[s.rank - 3] != heads)
        return eddy_fail(mask.graph, EDDY_BAD_SHAPE,
                         "parallel_attention: the mask has shape %s; expected 1 or %lld heads in "
                         "dimension %d", eddy_shape_print(s, text, sizeof text), (long long)heads,
                         s.rank - 3);
    if (s.rank < 0 || (s.rank > 2 && s.dim[s.rank - 3] == EDDY_ANY))
        return eddy_fail(mask.graph, EDDY_BAD_SHAPE,
                         "parallel_attention: the number of heads of the mask must be known");
    if (eddy_dtype_of(mask) != EDDY_BOOL) mask = eddy_copy_to_ranks(c, mask);
    if (s.rank < 3 || heads == 1 || s.dim[s.rank - 3] != heads) return mask;
    eddy_dims from = { .count = s.rank }, size = { .count = s.rank };
    for (int i = 0; i < s.rank; i++) size.at[i] = -1;
    size.at[s.rank - 3] = heads / c->n;
    from.at[s.rank - 3] = c->me * size.at[s.rank - 3];
    return eddy_slice(mask, from, size);
}

static bool attention_fits(eddy_communicator *c, const eddy_multi_head_attention_args *a)
{
    eddy_graph *g = a->x.graph;
    const bool  drops = a->dropout > 0 && (a->training || a->training_when.graph);
    if (!fits(g, "parallel_attention", c, a->reuse, penalizes(a->kernel_regularizer))) return false;
    if (drops || a->cache)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "parallel_attention: heads that are divided have no %s",
                  drops ? "dropout" : "cache");
    else if (eddy_shape_of(a->x).rank != 3)
        return eddy_multi_head_attention_with(a), false;       /* reports the error */
    return eddy_graph_status(g) == EDDY_OK &&
           divides(g, "parallel_attention", c, "heads", a->heads);
}

eddy_tensor eddy_parallel_attention_with(eddy_communicator *c,
                                         const eddy_multi_head_attention_args *given)
{
    eddy_multi_head_attention_args a = { .size_ = sizeof a, .units = EDDY_OMITTED };
    eddy_copy_options(&a, given);
    eddy_graph *g = a.x.graph;
    dividing    d = { c, false };
    if (!attention_fits(c, &a)) return eddy_none(g);
    if (a.units == EDDY_OMITTED) a.units = eddy_shape_of(a.x).dim[2];
    if (!divides(g, "parallel_attention", c, "units", a.units)) return eddy_none(g);
    if (a.heads < 1 || a.units < 1 || a.units % a.heads != 0)
        return eddy_multi_head_attention_with(&a);              /* reports the error */
    a.mask = mask_of_heads(c, a.mask, a.heads);
    a.units /= c->n;
    a.heads /= c->n;
    a.x = eddy_copy_to_ranks(c, a.x);
    if (a.memory.graph) a.memory = eddy_copy_to_ranks(c, a.memory);
    if (a.values.graph) a.values = eddy_copy_to_ranks(c, a.values);
    eddy_variable_creator_begin(g, create_of_attention, &d);
    const eddy_tensor part = eddy_multi_head_attention_with(&a);
    eddy_variable_creator_end(g);
    return eddy_is_valid(part) ? eddy_reduce_from_ranks(c, part) : part;
}
