/* carry.c -- see carry.h. */
#include "carry.h"
#include "reader.h"
#include "../../ops/short_names.h"

#include <string.h>

/* How many tensors a value is. */
static int tensors_of(const tf_value *v) { return v->kind == TF_ARRAY ? 2 : v->kind == TF_VALUE; }

void eddy__tf_share_weight(tf_build *b, tf_value *v)
{
    if (v->array) eddy__tf_tensor_of(b, v);
}

int eddy__tf_carry(tf_build *b, tf_value *const *v, int n, eddy_tensor *x)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const int more = tensors_of(v[i]);
        if (count + more > EDDY_MAX_RESULTS) {
            eddy__tf_missing(b, "there are more than %d tensors", EDDY_MAX_RESULTS);
            return -1;
        }
        if (more == 1) x[count++] = eddy__tf_tensor_of(b, v[i]);
        if (more < 2) continue;
        if (!eddy_is_valid(v[i]->list.values)) {
            eddy__tf_missing(b, "the shape of the elements of a tensor list is not known");
            return -1;
        }
        x[count++] = v[i]->list.values;
        x[count++] = v[i]->list.written;
    }
    return b->reason ? -1 : count;
}

bool eddy__tf_carried(tf_build *b, tf_value *const *like, int n, const eddy_tensor *x,
                      tf_value **out)
{
    for (int i = 0, at = 0; i < n; i++) {
        out[i] = like[i];
        if (tensors_of(like[i]) == 0) continue;
        out[i] = eddy__tf_new_value(b, like[i]->kind);
        if (!out[i]) return false;
        out[i]->type = like[i]->type;
        out[i]->growing = like[i]->growing;
        if (like[i]->kind == TF_ARRAY) {
            out[i]->list = eddy_tensor_array_at(like[i]->list, x + at);
            at += 2;
        } else out[i]->t = x[at++];
    }
    return true;
}

/* Loops that fill arrays need the shape of an element beforehand: gives each array of v without one
 * the shape that it has in `after`, the results of the body. An array that keeps none is not
 * carried. */
static void settle_arrays(tf_build *b, tf_value **v, tf_value *const *after, int n)
{
    for (int i = 0; i < n; i++) {
        if (v[i]->kind != TF_ARRAY || eddy_is_valid(v[i]->list.values)) continue;
        if (after[i]->kind != TF_ARRAY || !eddy_is_valid(after[i]->list.values)) return;
        const eddy_tensor_array a = v[i]->list;
        const eddy_tensor first =
            eddy_tensor_array_read(after[i]->list, eddy_number(b->graph, EDDY_INT32, 0));
        tf_value *settled = eddy__tf_new_value(b, TF_ARRAY);
        if (!settled) return;
        *settled = *v[i];
        settled->list = eddy_tensor_array_new(
            b->graph, a.dtype, a.least < 0 ? 0 : a.least, .like = first,
            .size_tensor = v[i]->t, .no_infer_shape = !a.infer_shape);
        v[i] = settled;
    }
}

/* -------------------------------------------------------------------- loops -- */

static int condition(eddy_list x, eddy_tensor *y, void *context)
{
    tf_loop   *l = context;
    tf_value **in = eddy__region_take(l->b->memory, (size_t)l->n, sizeof *in), *out = NULL;
    l->b->reader->bodies++;
    const bool ok = in && eddy__tf_carried(l->b, l->start, l->n, x.at, in) &&
                    l->condition(l, in, &out);
    if (ok) y[0] = eddy__tf_tensor_of(l->b, out);
    l->b->reader->bodies--;
    if (!ok) return 0;
    if (eddy_dtype_of(y[0]) != EDDY_BOOL) y[0] = NotEqual(y[0], 0);
    y[0] = Reshape(y[0], EDDY_SCALAR);
    return l->b->reason ? 0 : 1;
}

static int body_tensors(tf_loop *l, const eddy_tensor *x, eddy_tensor *y)
{
    tf_value **in = eddy__region_take(l->b->memory, 2 * (size_t)l->n, sizeof *in);
    if (!in || !eddy__tf_carried(l->b, l->start, l->n, x, in) || !l->body(l, in, in + l->n))
        return -1;
    tf_value **out = in + l->n;
    for (int i = 0; i < l->n; i++)
        if (out[i]->kind != l->start[i]->kind) {
            eddy__tf_missing(l->b, "loop variable %d changes its kind", i);
            return -1;
        }
    return eddy__tf_carry(l->b, out, l->n, y);
}

static int body(eddy_list x, eddy_tensor *y, void *context)
{
    tf_loop *l = context;
    l->b->reader->bodies++;
    const int n = body_tensors(l, x.at, y);
    l->b->reader->bodies--;
    return n < 0 ? 0 : n;
}

/* The body once on the initial values, whose results only give shapes. */
static void settle(tf_loop *l)
{
    bool open = false;
    for (int i = 0; i < l->n; i++)
        open = open || (l->start[i]->kind == TF_ARRAY && !eddy_is_valid(l->start[i]->list.values));
    if (!open) return;
    tf_value **out = eddy__region_take(l->b->memory, (size_t)l->n, sizeof *out);
    if (out && l->body(l, l->start, out)) settle_arrays(l->b, l->start, out, l->n);
}

/* The shapes of the n tensors x in the loop: a list that grows has any number of rows; with
 * `declared`, values have what the file declares. */
static void in_loop(const tf_loop *l, bool declared, const eddy_tensor *x, int n,
                    eddy_shape *shapes)
{
    for (int i = 0; i < n; i++) shapes[i] = eddy_shape_of(x[i]);
    for (int i = 0, at = 0; i < l->n; at += tensors_of(l->start[i++])) {
        if (declared && tensors_of(l->start[i]) == 1 &&
            eddy_shape_compatible(l->shapes[i], shapes[at]))
            shapes[at] = l->shapes[i];
        for (int k = 0; l->start[i]->growing && k < 2; k++) shapes[at + k].dim[0] = EDDY_ANY;
    }
}

static bool grows(const tf_loop *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->start[i]->kind == TF_ARRAY && l->start[i]->growing) return true;
    return false;
}

bool eddy__tf_while(tf_loop *l, tf_value **out)
{
    tf_build   *b = l->b;
    eddy_tensor x[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    eddy_shape  shapes[EDDY_MAX_RESULTS];
    settle(l);
    const int n = eddy__tf_carry(b, l->start, l->n, x);
    if (n < 0) return false;
    if (n == 0) return eddy__tf_missing(b, "a loop carries no tensors");
    in_loop(l, false, x, n, shapes);
    int done = eddy_while_loop({ condition, l, "cond" }, { body, l, "body" }, { n, x }, y,
                               grows(l) ? shapes : NULL);
    if (done == 0 && l->shapes && !b->reason && eddy_graph_status(b->graph) == EDDY_BAD_SHAPE) {
        eddy_graph_clear_error(b->graph);
        in_loop(l, true, x, n, shapes);
        done = eddy_while_loop({ condition, l, "cond" }, { body, l, "body" }, { n, x }, y, shapes);
    }
    return done > 0 && eddy__tf_carried(b, l->start, l->n, y, out);
}
