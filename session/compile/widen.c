/* widen.c -- arithmetic on float16 and bfloat16: inserts casts to float32 and back around the
 * operations that compute. Operations that only move elements keep the 16-bit type. */
#include "session/compile/widen.h"
#include "ops/kernels/bfloat16_pairs.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/kernels/elementwise/half_loops.h"
#include "ops/kernels/pooling/pool_windows.h"
#include "ops/linear/matmul.h"
#include "ops/nets/conv2d_fused.h"
#include "ops/weak_ops.h"

#include <string.h>

bool eddy__input_widens(const eddy_op_def *op, int i, eddy_dtype d)
{
    const bool by_reference = i == 0 && (op->flags & EDDY_OP_REFERENCE) != 0;
    return eddy__dtype_is_half(d) && !by_reference &&
           (eddy__input_types(op, i) & EDDY_TYPE(d)) != 0;
}

/* The sizes of [m,k] times [k,n]. */
typedef struct sizes { int64_t m, n, k; } sizes;

static sizes sizes_of(const void *attrs, eddy_shape a, eddy_shape b)
{
    const eddy_matmul_attrs *t = attrs;          /* or the first member of the attributes */
    return (sizes){ .m = a.dim[a.rank - 2 + t->transpose_a],
                    .n = b.dim[b.rank - 1 - t->transpose_b],
                    .k = a.dim[a.rank - 1 - t->transpose_a] };
}

static bool is_product(const eddy_op_def *op)
{
    return op == &eddy_op_matmul || op == &eddy_op_fused_matmul || op == &eddy_op_batch_matmul;
}

static bool is_pooling(const eddy_op_def *op)
{
    return op == &eddy_op_max_pool || op == &eddy_op_max_pool_grad;
}

bool eddy__kernel_widens(const eddy_op_def *op, const void *attrs, eddy_type a, eddy_type b)
{
    if (is_pooling(op)) return eddy__window_widens(a);
    if (!is_product(op) || a.dtype != EDDY_BFLOAT16) return false;
    const sizes s = sizes_of(attrs, a.shape, b.shape);
    return eddy__product_widens(s.m, s.n, s.k);
}

/* ------------------------------------------------------------------- casts -- */

static bool cast_infer(eddy_infer *c)
{
    return eddy_infer_fail(c, EDDY_INTERNAL, "a node that only the compiler makes");
}
static eddy_tile_fn widen_tile(const eddy_type *in, const eddy_type *out)
{
    (void)out;
    return eddy__half_to_f32(in->dtype);
}
static eddy_tile_fn narrow_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in;
    return eddy__f32_to_half(out->dtype);
}
static eddy_tile_fn round_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in, (void)out;
    return eddy__f32_rounded_to_bfloat16();
}
static const eddy_op_def op_widen = {
    .name = "_Widen", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = cast_infer, .tile = widen_tile,
};
static const eddy_op_def op_narrow = {
    .name = "_Narrow", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = cast_infer, .tile = narrow_tile,
};

/* Widens what _Narrow would yield of a bfloat16. */
static const eddy_op_def op_round = {
    .name = "_Round", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = cast_infer, .tile = round_tile,
};

/* Operations in bfloat16, under their names. */
static eddy_tile_fn relu_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in, (void)out;
    return eddy__half_relu();
}
static eddy_tile_fn relu_grad_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in, (void)out;
    return eddy__half_relu_grad();
}
static eddy_tile_fn add_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in, (void)out;
    return eddy__half_add();
}
static const eddy_op_def op_relu = {
    .name = "Relu", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = cast_infer, .tile = relu_tile,
};
static const eddy_op_def op_relu_grad = {
    .name = "ReluGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = cast_infer, .tile = relu_grad_tile,
};
static const eddy_op_def op_add = {
    .name = "Add", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = cast_infer, .tile = add_tile,
};

/* ---------------------------------------------------------------- the walk -- */

/* By node: its number in the new IR, and the tensors that replace its outputs; NULL: those of the
 * node itself. */
typedef struct widening {
    compile      *c;
    ir_graph     *from, *to;
    int32_t      *now;
    eddy_tensor **tensors;
    bool         *by_kernel;         /* by node: its kernel widens bfloat16 */
    bool         *in_products;       /* by node: a cast to bfloat16 that products make */
    int32_t       barrier;           /* the last node in `to` that no loop takes */
} widening;

static ir_node *append_node(widening *w, const eddy_op_def *op, const eddy_node *source,
                            eddy_dtype d, eddy_shape shape, const eddy_tensor *x)
{
    ir_node   *n = eddy__ir_alloc(w->c, 1, sizeof *n);
    eddy_type *type = eddy__ir_alloc(w->c, 1, sizeof *type);
    eddy_tensor *in = eddy__ir_alloc(w->c, 1, sizeof *in);
    if (!n || !type || !in) return NULL;
    *type = (eddy_type){ d, shape };
    if (x) in[0] = *x;
    *n = (ir_node){ .op = op, .source = source, .inputs = in, .outputs = type,
                    .n_inputs = x != NULL, .n_outputs = 1, .readers = 1, .feed = -1,
                    .variable = -1 };
    return eddy__ir_append(w->to, n);
}

/* The constant x in float32. */
static eddy_tensor widened_constant(widening *w, const ir_node *n, const eddy_array *x)
{
    eddy_array *y = eddy_array_new_in(&w->c->session->allocator, EDDY_FLOAT32,
                                      eddy_array_shape(x));
    const void *from[] = { eddy_array_data(x) };
    if (y) eddy__half_to_f32(eddy_array_dtype(x))(eddy_array_count(x), eddy_array_data(y), from,
                                                  NULL);
    return eddy__ir_constant(w->to, n->source, y);
}

/* The node of this operation on x among the last ones, with which a loop may include its readers;
 * NULL. */
static ir_node *cast_since_barrier(const widening *w, const eddy_op_def *op, eddy_tensor x)
{
    enum { FEW = 32 };
    const int32_t size = w->to->size;
    for (int32_t id = size; id > w->barrier && id > size - FEW; id--) {
        ir_node *n = w->to->nodes[id];
        if (n->op == op && n->inputs[0].node == x.node && n->inputs[0].output == x.output)
            return n;
    }
    return NULL;
}

/* x in float32, of which `made` is the node; NULL without memory. A value that was rounded since
 * the barrier is rounded again, which saves reading it. A value that was rounded before the barrier
 * is read: otherwise its float32 form would stay in memory. */
static ir_node *cast_of(widening *w, const ir_node *n, eddy_tensor x, const ir_node *made)
{
    const eddy_type    t = eddy__ir_type(w->to, x);
    const bool         rounds = made->op == &op_narrow && made->id > w->barrier &&
                                t.dtype == EDDY_BFLOAT16;
    const eddy_op_def *op = rounds ? &op_round : &op_widen;
    const eddy_tensor  from = rounds ? made->inputs[0] : x;
    ir_node           *y = cast_since_barrier(w, op, from);
    if (y) return y->readers++, y;
    y = append_node(w, op, n->source, EDDY_FLOAT32, t.shape, &from);
    if (!y || !rounds) return y;
    y->controls = eddy__ir_alloc(w->c, 1, sizeof *y->controls);
    if (!y->controls) return NULL;
    y->controls[y->n_controls++] = made->id;
    return y;
}

/* Input i of n in float32; node 0 if memory is out. */
static eddy_tensor widened(widening *w, const ir_node *n, int i)
{
    enum { FEW = 64 };
    const eddy_tensor x = n->inputs[i];
    const ir_node    *made = eddy__ir_node(w->to, x);
    const eddy_type   t = eddy__ir_type(w->to, x);
    const eddy_array *value = eddy__ir_value(w->to, x);
    if (value && eddy_array_count(value) <= FEW) return widened_constant(w, n, value);
    const ir_node *y = made->op == &eddy_op_type_only
        ? append_node(w, made->op, n->source, EDDY_FLOAT32, t.shape, NULL)
        : cast_of(w, n, x, made);
    return eddy__ir_tensor(y ? y->id : 0, 0);
}

/* x and the filter, or the filter and dy; without groups. */
static bool conv_has_pairs(const ir_node *n, eddy_shape x, eddy_shape filter, bool back)
{
    const eddy_conv_attrs *a = n->attrs;         /* or the first member of the attributes */
    return a->data_format && strcmp(a->data_format, "NHWC") == 0 && x.dim[3] == filter.dim[2] &&
           eddy__conv_has_pairs(filter.dim[back ? 3 : 2]);
}

static bool computes(const ir_node *n)
{
    return !n->values && n->feed < 0 && n->variable < 0 && !n->program && !n->alias && !n->parts;
}

/* The inputs of a convolution or its gradients that are images; 0 if it has channels before height,
 * or a residual. */
static unsigned images_of(const ir_node *n)
{
    const eddy_conv_attrs *a = n->attrs;         /* or the first member of the attributes */
    if (strcmp(a->data_format, "NHWC") != 0) return 0;
    if (n->op == &eddy_op_conv2d_backprop_input) return 4;
    if (n->op == &eddy_op_conv2d_backprop_filter) return 5;
    return n->op == &eddy_op_conv2d || !((const eddy_fused_conv_attrs *)n->attrs)->has_residual;
}

/* The set of inputs that the kernel takes in bfloat16, although others are float32. */
static unsigned inputs_in_halves(const widening *w, const ir_node *n)
{
    if (n->n_outputs == 0 || n->outputs[0].dtype != EDDY_BFLOAT16 || !eddy__kernels_widen())
        return 0;
    if (n->op == &eddy_op_conv2d || n->op == &eddy_op_fused_conv2d ||
        n->op == &eddy_op_conv2d_backprop_input || n->op == &eddy_op_conv2d_backprop_filter)
        return images_of(n);
    const bool norm = n->op == &eddy_op_fused_batch_norm;
    if (!norm && n->op != &eddy_op_fused_batch_norm_grad) return 0;
    const eddy_type scale = eddy__ir_type(w->to, n->inputs[norm ? 1 : 2]);
    return scale.dtype != EDDY_FLOAT32 ? 0 : norm ? 1 : 3;
}

/* The set of inputs that the kernel takes in bfloat16, with a result in float32. */
static unsigned inputs_in_pairs(const widening *w, const ir_node *n)
{
    const bool product = is_product(n->op);
    const bool conv = n->op == &eddy_op_conv2d || n->op == &eddy_op_fused_conv2d;
    const bool back = n->op == &eddy_op_conv2d_backprop_input;
    if ((!product && !conv && !back) || n->outputs[0].dtype != EDDY_BFLOAT16) return 0;
    const eddy_shape a = eddy__ir_type(w->to, n->inputs[0]).shape;
    const eddy_shape filter = eddy__ir_type(w->to, n->inputs[1]).shape;
    if (product) {
        const sizes s = sizes_of(n->attrs, a, filter);
        return eddy__product_has_pairs(s.m, s.n, s.k) ? 3 : 0;
    }
    if (!conv_has_pairs(n, a, filter, back)) return 0;
    return back ? 6 : 3;
}

/* Whether the node is one that it then computes in bfloat16. */
static bool in_halves(ir_node *n)
{
    const eddy_op_def *op = n->op == &eddy_op_relu ? &op_relu
                          : n->op == &eddy_op_relu_grad ? &op_relu_grad
                          : n->op == &eddy_op_add ? &op_add : NULL;
    if (!op || n->outputs[0].dtype != EDDY_BFLOAT16 || !eddy__kernels_widen()) return false;
    n->op = op;
    return true;
}

/* Casts the inputs of n that need it, each tensor once; *any: the kernel yields float32 in the
 * place of 16-bit types. */
static bool widen_inputs(widening *w, ir_node *n, bool *any)
{
    eddy_tensor before[8];
    const unsigned halves = inputs_in_halves(w, n);
    const unsigned kept = halves ? halves : inputs_in_pairs(w, n);
    *any = kept != 0;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor x = n->inputs[i];
        if (i < 8) before[i] = x;
        if (i < 32 && (kept >> i & 1)) continue;
        if (!eddy__input_widens(n->op, i, eddy__ir_type(w->to, x).dtype)) continue;
        *any = true;
        int k = 0;
        while (k < i && k < 8 &&
               (before[k].node != x.node || before[k].output != x.output ||
                eddy__ir_type(w->to, n->inputs[k]).dtype != EDDY_FLOAT32))
            k++;
        n->inputs[i] = k < i && k < 8 ? n->inputs[k] : widened(w, n, i);
        if (!eddy__ir_valid(n->inputs[i])) return false;
    }
    if (halves && n->op != &eddy_op_conv2d_backprop_filter) *any = false;
    return true;
}

static bool widens_itself(const ir_graph *f, const ir_node *n)
{
    return n->n_inputs > 0 &&
           eddy__kernel_widens(n->op, n->attrs, eddy__ir_type(f, n->inputs[0]),
                               eddy__ir_type(f, n->inputs[n->n_inputs > 1]));
}

/* By variable: the first node that updates it; 0 if none does. */
static int32_t *first_updates(const widening *w)
{
    const ir_graph *f = w->from;
    int32_t *first = eddy__ir_alloc(w->c, (size_t)w->c->plan->n_variables + 1, sizeof *first);
    for (int32_t id = 1; first && id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        if (!(n->op->flags & EDDY_OP_UPDATES)) continue;
        const ir_node *x = eddy__ir_node(f, n->inputs[0]);
        if (x->variable >= 0 && first[x->variable] == 0) first[x->variable] = id;
    }
    return first;
}

/* A cast to bfloat16 of a variable that the plan updates, or of an array that a run is given. */
static bool may_be_in_products(const widening *w, const ir_node *n, const int32_t *first)
{
    if (!computes(n) || n->op != &eddy_op_cast || n->n_controls > 0 ||
        n->outputs[0].dtype != EDDY_BFLOAT16 ||
        eddy__ir_type(w->from, n->inputs[0]).dtype != EDDY_FLOAT32)
        return false;
    const ir_node *x = eddy__ir_node(w->from, n->inputs[0]);
    return x->variable >= 0 ? first[x->variable] > 0 && n->inputs[0].output == BEFORE_RUN
                            : x->feed >= 0 && !w->c->iterates;
}

/* Whether a product reads what t casts before an update could change it; behind the update, all of
 * the variable would be copied for it. */
static bool is_before_update(const widening *w, eddy_tensor t, int32_t product,
                             const int32_t *first)
{
    const ir_node *cast = eddy__ir_node(w->from, t);
    if (!w->in_products[t.node]) return true;
    const ir_node *x = eddy__ir_node(w->from, cast->inputs[0]);
    return x->variable < 0 || product < first[x->variable];
}

/* Finds the casts to bfloat16 that products make while they pack: a copy of a variable would live
 * from the forward pass to the gradient. Copies are made of variables that do not change, once for
 * many runs, and of computed values, which would live as long in float32. Where values are checked,
 * all casts stay, since they can make infinities. */
static bool find_casts_in_products(widening *w)
{
    const ir_graph *f = w->from;
    const int32_t  *first = first_updates(w);
    if (!first) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        w->by_kernel[id] = computes(n) && widens_itself(f, n);
        w->in_products[id] =
            !w->c->session->options.check_numerics && may_be_in_products(w, n, first);
        const int operands = w->by_kernel[id] && is_product(n->op) ? 2 : 0;
        for (int i = 0; i < n->n_inputs; i++)
            if (i >= operands || !is_before_update(w, n->inputs[i], id, first))
                w->in_products[n->inputs[i].node] = false;
        for (int i = 0; i < n->n_controls; i++) w->in_products[n->controls[i]] = false;
    }
    for (int i = 0; i < w->c->plan->n_fetches; i++) w->in_products[f->fetches[i].node] = false;
    return true;
}

/* The node yields float32 in the place of 16-bit types; appends it, and the casts back. */
static bool narrow_outputs(widening *w, ir_node *n, int32_t old)
{
    const eddy_type *type = n->outputs;
    eddy_type       *wide = eddy__ir_alloc(w->c, (size_t)n->n_outputs, sizeof *wide);
    eddy_tensor     *y = eddy__ir_alloc(w->c, (size_t)n->n_outputs, sizeof *y);
    if (n->n_outputs > 0 && (!wide || !y)) return false;
    for (int k = 0; k < n->n_outputs; k++) {
        wide[k] = type[k];
        if (eddy__dtype_is_half(type[k].dtype)) wide[k].dtype = EDDY_FLOAT32;
    }
    n->outputs = wide;
    const ir_node *now = eddy__ir_append(w->to, n);
    if (!now) return false;
    w->now[old] = now->id;
    for (int k = 0; k < n->n_outputs; k++) {
        y[k] = eddy__ir_tensor(now->id, k);
        if (!eddy__dtype_is_half(type[k].dtype)) continue;
        const ir_node *cast =
            append_node(w, &op_narrow, n->source, type[k].dtype, type[k].shape, &y[k]);
        if (!cast) return false;
        y[k] = eddy__ir_tensor(cast->id, 0);
    }
    if (n->n_outputs > 0) w->tensors[old] = y;
    return true;
}

static eddy_tensor replaced(const widening *w, eddy_tensor t)
{
    if (w->tensors[t.node]) return w->tensors[t.node][t.output];
    return eddy__ir_tensor(w->now[t.node], t.output);
}

static void set_barrier(widening *w, const ir_node *n, int32_t id)
{
    if (computes(n) && !(n->op->flags & EDDY_OP_ELEMENTWISE)) w->barrier = id;
}

/* Drops roundings to bfloat16 that nothing reads. */
static bool drop_unread(widening *w)
{
    const ir_graph *f = w->to;
    bool *read = eddy__ir_alloc(w->c, (size_t)f->size + 1, sizeof *read);
    if (!read) return false;
    for (int i = 0; i < w->c->plan->n_fetches; i++) read[f->fetches[i].node] = true;
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        for (int i = 0; i < n->n_inputs; i++) read[n->inputs[i].node] = true;
        for (int i = 0; i < n->n_controls && n->op != &op_round; i++) read[n->controls[i]] = true;
    }
    for (int32_t id = 1; id <= f->size; id++) {
        ir_node *n = f->nodes[id];
        if (n->op == &op_round && !read[n->controls[0]]) n->n_controls = 0;
        if (!read[id] && n->op == &op_narrow) n->op = &eddy_op_type_only, n->n_inputs = 0;
    }
    return true;
}

static bool has_halves(const ir_graph *f)
{
    for (int32_t id = 1; id <= f->size; id++)
        for (int k = 0; k < f->nodes[id]->n_outputs; k++)
            if (eddy__dtype_is_half(f->nodes[id]->outputs[k].dtype)) return true;
    return false;
}

bool eddy__widen(compile *c)
{
    ir_graph    *f = c->ir;
    const size_t n = (size_t)f->size + 1;
    if (!has_halves(f)) return true;
    widening w = { .c = c, .from = f, .to = eddy__ir_new(c, f->size) };
    w.now = eddy__ir_alloc(c, n, sizeof *w.now);
    w.tensors = eddy__ir_alloc(c, n, sizeof *w.tensors);
    w.by_kernel = eddy__ir_alloc(c, n, sizeof *w.by_kernel);
    w.in_products = eddy__ir_alloc(c, n, sizeof *w.in_products);
    if (!w.to || !w.now || !w.tensors || !w.by_kernel || !w.in_products) return false;
    if (!find_casts_in_products(&w)) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        ir_node *node = f->nodes[id];
        bool     widens = false;
        for (int i = 0; i < node->n_inputs; i++)
            node->inputs[i] = replaced(&w, node->inputs[i]);
        if (w.in_products[id]) {
            eddy__ir_node(w.to, node->inputs[0])->readers += node->readers;
            w.tensors[id] = node->inputs;
            continue;
        }
        for (int i = 0; i < node->n_controls; i++) node->controls[i] = w.now[node->controls[i]];
        if (computes(node) && !w.by_kernel[id] && !in_halves(node) &&
            !widen_inputs(&w, node, &widens))
            return false;
        if (widens && !narrow_outputs(&w, node, id)) return false;
        const ir_node *now = widens ? w.to->nodes[w.now[id]] : eddy__ir_append(w.to, node);
        if (!now) return false;
        w.now[id] = now->id;
        set_barrier(&w, now, now->id);
    }
    for (int i = 0; i < c->plan->n_fetches; i++) w.to->fetches[i] = replaced(&w, f->fetches[i]);
    c->ir = w.to;
    return drop_unread(&w);
}
