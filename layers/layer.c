/* layer.c -- code shared by all layers: checks of arguments, creation of variables, and reuse of
 * another layer's variables. */
#include "layers/internal.h"
#include "layers/variable_creator.h"
#include "graph/internal.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"

#include <string.h>

/* ------------------------------------------------------ argument checks -- */

/* No function has machine code that begins with three or more letters and a zero byte. */
bool eddy__refuse_text(eddy_graph *g, const char *option, const char *like, void (*f)(void))
{
    enum { LONGEST = 32 };
    const char *text;
    int         n = 0;
    memcpy(&text, &f, sizeof text);
    while (text && n < LONGEST && strchr("abcdefghijklmnopqrstuvwxyz_", text[n]) && text[n]) n++;
    if (n < 3 || text[n]) return false;
    eddy_fail(g, EDDY_INVALID_ARGUMENT,
              "the %s is the string \"%s\"; it must be a function, such as %s", option, text, like);
    return true;
}

static const char *scope_of(const eddy_layer *l)
{
    return l->name ? l->name : l->who;
}

bool eddy__layer_check_input(eddy_layer *l, eddy_tensor x)
{
    l->graph = x.graph;
    l->dtype = eddy_dtype_of(x);
    if (!eddy_is_valid(x)) {
        eddy_identity(x);                       /* reports or propagates the error */
        return false;
    }
    /* in mixed precision, variables are float32 */
    if (l->graph->cast_inputs && l->dtype == l->graph->precision) l->dtype = EDDY_FLOAT32;
    if (eddy__dtype_is_float(l->dtype)) return true;
    eddy_fail(l->graph, EDDY_BAD_DTYPE, "%s: x is %s; float32 or float64 expected "
              "[scope '%.200s']", l->who, eddy_dtype_name(l->dtype), scope_of(l));
    return false;
}

bool eddy__layer_check_count(const eddy_layer *l, const char *what, int64_t n)
{
    if (n > 0) return true;
    eddy_fail(l->graph, EDDY_INVALID_ARGUMENT, "%s: %s is %lld; it must be positive "
              "[scope '%.200s']", l->who, what, (long long)n, scope_of(l));
    return false;
}

bool eddy__layer_check_rank(const eddy_layer *l, eddy_tensor x, int rank, int known)
{
    const eddy_shape s = eddy_shape_of(x);
    char             text[200];
    if (s.rank == rank && s.dim[known] >= 0) return true;
    eddy_fail(l->graph, EDDY_BAD_SHAPE, "%s: x has shape %s; it must have rank %d, and dimension "
              "%d must be known [scope '%.200s']", l->who, eddy_shape_print(s, text, sizeof text),
              rank, known, scope_of(l));
    return false;
}

bool eddy__layer_check_lengths(const char *who, const char *what, eddy_tensor lengths,
                               eddy_tensor x, int axis)
{
    const eddy_type  type = { eddy_dtype_of(lengths), eddy_shape_of(lengths) };
    const eddy_shape s = eddy_shape_of(x), batch = EDDY_SHAPE(s.rank < 0 ? EDDY_ANY : s.dim[axis]);
    const bool       whole = eddy__dtype_is_index(type.dtype);
    char             is[200], want[200];
    if (!lengths.graph) return true;
    if (lengths.graph != x.graph || !eddy_is_valid(lengths))
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: %s is not a tensor of the graph", who, what);
    else if (!whole || !eddy_shape_compatible(type.shape, batch))
        eddy_fail(x.graph, whole ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                  "%s: %s is %s; expected int32 or int64 %s, as the batch", who, what,
                  eddy_type_print(type, is, sizeof is), eddy_shape_print(batch, want, sizeof want));
    else return true;
    return false;
}

eddy_tensor eddy__layer_lengths(const char *what, eddy_tensor lengths, eddy_tensor x, int axis)
{
    const eddy_shape s = eddy_shape_of(lengths), batch = eddy_shape_of(x);
    const bool known = s.rank == 1 && s.dim[0] >= 0 && batch.rank >= 0 && batch.dim[axis] >= 0;
    if (!lengths.graph || known) return lengths;
    const eddy_tensor size = eddy_reshape(eddy_size_along(x, axis), EDDY_SHAPE(1));
    return eddy_named(what, eddy_reshape_like(lengths, eddy_zeros_of(size, EDDY_BOOL)));
}

/* ---------------------------------------------------------------- scopes -- */

void eddy__layer_begin(const eddy_layer *l)
{
    eddy_scope_begin(l->graph, scope_of(l));
}

eddy_tensor eddy__layer_end(const eddy_layer *l, eddy_tensor y)
{
    eddy_scope_end(l->graph);
    return y;
}

const char *eddy__layer_inner_reuse(const eddy_layer *l, const char *name, char buf[LAYER_NAME])
{
    if (!l->reuse) return NULL;
    snprintf(buf, LAYER_NAME, "%s/%s", l->reuse, name);
    return buf;
}

/* ------------------------------------------------------------- variables -- */

/* The variable of the layer whose variables are reused. */
static eddy_tensor find_variable(const eddy_layer *l, const eddy_layer_weight *w)
{
    char              name[LAYER_NAME], tensor[LAYER_NAME + 2], have[200], want[200];
    const eddy_type   type = { l->dtype, w->shape };
    const eddy_tensor none = eddy_none(l->graph);
    eddy__layer_inner_reuse(l, w->name, name);
    snprintf(tensor, sizeof tensor, "%s:0", name);
    const eddy_tensor v = eddy_graph_has(l->graph, tensor) ? eddy_graph_tensor(l->graph, tensor)
                                                           : none;
    if (!eddy_is_valid(v) || !(eddy_node_of(v)->op->flags & EDDY_OP_VARIABLE))
        return eddy_fail(l->graph, EDDY_NOT_FOUND,
                         "%s: there is no variable '%.200s' to reuse [scope '%.200s']", l->who,
                         name, scope_of(l));
    const eddy_type is = { eddy_dtype_of(v), eddy_shape_of(v) };
    if (is.dtype == type.dtype && eddy_shape_equal(is.shape, type.shape)) return v;
    return eddy_fail(l->graph, EDDY_BAD_SHAPE,
                     "%s: variable '%.200s' is %s; expected %s [scope '%.200s']", l->who, name,
                     eddy_type_print(is, have, sizeof have),
                     eddy_type_print(type, want, sizeof want), scope_of(l));
}

/* Adds the penalty on v to the losses. */
static void regularize(const eddy_layer *l, eddy_tensor v, const char *name, eddy_regularizer r)
{
    char scope[64];
    if (!r.build && r.l1 == 0 && r.l2 == 0) return;
    snprintf(scope, sizeof scope, "%.40s/Regularizer", name);
    eddy_scope_begin(l->graph, scope);
    eddy_add_loss(r.build ? r.build(v) : eddy_l1_l2_regularizer(v, r.l1, r.l2),
                  EDDY_REGULARIZATION_LOSSES);
    eddy_scope_end(l->graph);
}

static eddy_init init_of(const eddy_layer_weight *w)
{
    const bool given = w->init.build || w->init.value.graph || w->init.kind;
    return given ? w->init : w->otherwise;
}

/* The initial value depends on no surrounding scope, because the initializer runs first. */
eddy_tensor eddy__layer_variable(const eddy_layer *l, eddy_layer_weight w)
{
    /* far from the seeds of other layers, which are next to each other */
    const int64_t seed = l->seed ? eddy__layer_seed(l->seed, w.part * 0x3504f334) : 0;
    if (l->reuse) return find_variable(l, &w);
    eddy_control_clear(l->graph);
    eddy_tensor v = eddy__requested_variable(&(eddy_variable_request){
        .graph = l->graph, .name = w.name, .dtype = l->dtype, .shape = w.shape,
        .init = init_of(&w), .seed = seed, .not_trainable = l->not_trainable || w.not_trainable });
    if (eddy_is_valid(v)) regularize(l, v, w.name, w.regularizer);
    eddy_control_end(l->graph);
    return v;
}

/* ---------------------------------------------------------------- shapes -- */

eddy_tensor eddy__layer_restore_dims(eddy_tensor y, eddy_tensor x, int leading)
{
    const eddy_shape inner = eddy_shape_of(y);
    eddy_shape       s = eddy_shape_of(x);
    int              open = 0, zeros = 0;
    if (leading == 1 || !eddy_is_valid(y)) return y;
    for (int i = 0; i < leading; i++) {
        open += s.dim[i] == EDDY_ANY;
        zeros += s.dim[i] == 0;
    }
    s.rank = leading;
    for (int i = 1; i < inner.rank; i++) s.dim[s.rank++] = inner.dim[i];
    if (open == 0 || (open == 1 && zeros == 0)) return eddy_reshape(y, s);
    eddy_tensor sizes = eddy_shape_tensor(x, EDDY_INT64);
    sizes = eddy_slice(sizes, EDDY_DIMS(0), EDDY_DIMS(leading));
    eddy_tensor last = eddy_const(x.graph, EDDY_INT64, EDDY_SHAPE(inner.rank - 1), inner.dim + 1);
    y = eddy_reshape_to(y, eddy_concat(EDDY_LIST(sizes, last), 0));
    return eddy_set_shape(y, s);
}

eddy_tensor eddy__layer_valid_positions(eddy_tensor x, eddy_tensor lengths, int along)
{
    const eddy_shape s = eddy_shape_of(x);
    if (s.dim[along] > 0) {
        eddy_tensor seen = eddy_sequence_mask(lengths, s.dim[along], EDDY_BOOL);
        return along == 0 ? Transpose(seen) : seen;
    }
    eddy_dims axes = { .count = 0 };
    for (int d = 2; d < s.rank; d++) axes.at[axes.count++] = d;
    eddy_tensor number = Cast(x, EDDY_INT64);
    eddy_tensor one = OnesLike(axes.count > 0 ? eddy_sum(number, axes) : number);
    return Less(eddy_cumsum(one, along, .exclusive = true),
                ExpandDims(Cast(lengths, EDDY_INT64), along));
}
