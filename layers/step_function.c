/* step_function.c -- checks of the function that yields the logits of the next id. */
#include "layers/step_function.h"
#include "autodiff/internal.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/ops.h"

/* The tensors have the same batch in front, as far as that is known. */
static bool same_batch(eddy_tensor x, eddy_tensor y)
{
    const eddy_shape a = eddy_shape_of(x), b = eddy_shape_of(y);
    if (a.rank < 0 || b.rank < 0) return true;
    return a.rank > 0 && b.rank > 0 && eddy_shape_compatible(EDDY_SHAPE(a.dim[0]),
                                                             EDDY_SHAPE(b.dim[0]));
}

static bool check_logits(const eddy_step *s, int n, const eddy_tensor *out)
{
    eddy_graph      *g = s->start.graph;
    const eddy_shape shape = eddy_shape_of(out[0]);
    const eddy_type  type = { eddy_dtype_of(out[0]), shape };
    int              stored = 0;
    const bool       fits = s->dtype ? type.dtype == s->dtype : eddy__dtype_is_float(type.dtype);
    char             text[200];
    if (!eddy__graph_ready(g)) return false;
    while (stored < n && stored < EDDY_MAX_RESULTS && eddy_is_valid(out[stored])) stored++;
    if (n != 1 + s->state.count)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of results of the function is %d; "
                  "expected %d, the logits and the state", s->who, n, 1 + s->state.count);
    else if (stored < n)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the function stores no result %d", s->who,
                  stored);
    else if (!fits || shape.rank != 2 || shape.dim[1] < 1)
        eddy_fail(g, fits ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                  "%s: the logits are %s; expected %s [%s, classes], and classes known", s->who,
                  eddy_type_print(type, text, sizeof text),
                  s->dtype ? eddy_dtype_name(s->dtype) : "float32 or float64", s->rows);
    else if (s->end_token != EDDY_OMITTED && (s->end_token < 0 || s->end_token >= shape.dim[1]))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: end_token is %lld; expected a class in [0, %lld)",
                  s->who, (long long)s->end_token, (long long)shape.dim[1]);
    return eddy__graph_ready(g);
}

static bool check_rows(const eddy_step *s, eddy_tensor ids, int n, const eddy_tensor *out)
{
    char a[200], b[200];
    for (int k = 0; k < n; k++) {
        if (same_batch(out[k], ids)) continue;
        eddy_fail(ids.graph, EDDY_BAD_SHAPE,
                  "%s: result %d of the function has shape %s, the ids %s; expected [%s, ...] for "
                  "both", s->who, k, eddy_shape_print(eddy_shape_of(out[k]), a, sizeof a),
                  eddy_shape_print(eddy_shape_of(ids), b, sizeof b), s->rows);
        return false;
    }
    return true;
}

int64_t eddy__step_build(const eddy_step *s, const eddy_tensor *in, eddy_tensor *out)
{
    for (int k = 0; k < EDDY_MAX_RESULTS; k++) out[k] = eddy_none(s->start.graph);
    const int n = s->f.build((eddy_list){ s->state.count + 1, in }, out, s->f.context);
    if (!check_logits(s, n, out) || !check_rows(s, in[0], n, out)) return 0;
    return eddy_shape_of(out[0]).dim[1];
}

static bool check_state(const eddy_step *s)
{
    char text[200], start[200];
    for (int k = 0; k < s->state.count; k++) {
        if (same_batch(s->state.at[k], s->start)) continue;
        eddy_fail(s->start.graph, EDDY_BAD_SHAPE, "%s: initial state %d has shape %s, start_tokens "
                  "%s; both must begin with the batch", s->who, k,
                  eddy_shape_print(eddy_shape_of(s->state.at[k]), text, sizeof text),
                  eddy_shape_print(eddy_shape_of(s->start), start, sizeof start));
        return false;
    }
    return true;
}

bool eddy__step_check(const eddy_step *s, int most)
{
    eddy_graph     *g = s->start.graph;
    const eddy_type start = { eddy_dtype_of(s->start), eddy_shape_of(s->start) };
    char            text[200];
    if (!eddy__list_is_of(g, s->who, "initial state", s->state)) return false;
    if (!s->f.build)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: there is no build function", s->who);
    else if (start.dtype != EDDY_INT32 || start.shape.rank != 1)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: start_tokens is %s; expected int32 [batch]", s->who,
                  eddy_type_print(start, text, sizeof text));
    else if (s->state.count > most)
        eddy_fail(g, EDDY_LIMIT, "%s: %d tensors of state; at most %d expected", s->who,
                  s->state.count, most);
    return eddy__graph_ready(g) && check_state(s);
}
