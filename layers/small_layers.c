/* small_layers.c -- dropout and embedding layers, MLPs and residual blocks. */
#include "layers/internal.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/short_names.h"

eddy_tensor eddy_dropout_layer_with(const eddy_dropout_layer_args *given)
{
    eddy_dropout_layer_args a = EDDY_TAKE(eddy_dropout_layer_args, given);
    eddy_layer l = { .who = "dropout", .name = a.name };
    if (!eddy__layer_check_input(&l, a.x)) return eddy_none(a.x.graph);
    if (!a.training_when.graph && !a.training) return a.x;
    eddy__layer_begin(&l);
    eddy_tensor y = eddy_dropout(a.x, a.rate, a.noise_shape, a.seed, "mask");
    if (a.training_when.graph && !eddy_same(y, a.x)) y = Where(a.training_when, y, a.x);
    return eddy__layer_end(&l, y);
}

eddy_tensor eddy_embedding_layer_with(const eddy_embedding_layer_args *given)
{
    eddy_embedding_layer_args a = EDDY_TAKE(eddy_embedding_layer_args, given);
    const eddy_tensor none = eddy_none(a.ids.graph);
    eddy_layer l = { .graph = a.ids.graph, .who = "embedding", .name = a.name, .reuse = a.reuse,
                     .dtype = a.dtype ? a.dtype : EDDY_FLOAT32, .not_trainable = a.not_trainable,
                     .seed = a.seed };
    if (!eddy_is_valid(a.ids)) return eddy_identity(a.ids);
    if (!eddy__expect_type(l.graph, l.who, "dtype", l.dtype, EDDY_TAKES_WIDE_FLOATS) ||
        !eddy__layer_check_count(&l, "input_dim", a.input_dim) ||
        !eddy__layer_check_count(&l, "output_dim", a.output_dim))
        return none;
    eddy__layer_begin(&l);
    eddy_tensor table = eddy__layer_variable(&l, (eddy_layer_weight){
        .name = "embeddings", .shape = EDDY_SHAPE(a.input_dim, a.output_dim),
        .init = a.embeddings_initializer, .regularizer = a.embeddings_regularizer,
        .otherwise = eddy_random_uniform_initializer(-0.05, 0.05) });
    return eddy__layer_end(&l, eddy_embedding_lookup(table, a.ids));
}

/* -------------------------------------------------------- composed layers -- */

eddy_tensor eddy_mlp_with(const eddy_mlp_args *given)
{
    eddy_mlp_args a = EDDY_TAKE(eddy_mlp_args, given);
    eddy_layer  l = { .who = "mlp", .name = a.name, .reuse = a.reuse };
    eddy_tensor y = a.x;
    char        inner[24], scope[LAYER_NAME];
    if (!eddy__layer_check_input(&l, a.x)) return eddy_none(a.x.graph);
    if (a.units.count < 1 || a.units.count > EDDY_MAX_RANK)
        return eddy_fail(l.graph, EDDY_INVALID_ARGUMENT,
                         "mlp: the number of entries of units is %d; expected 1 to %d",
                         a.units.count, EDDY_MAX_RANK);
    eddy__layer_begin(&l);
    for (int i = 0; i < a.units.count; i++) {
        const bool last = i == a.units.count - 1;
        snprintf(inner, sizeof inner, i ? "dense_%d" : "dense", i);
        y = eddy_dense(y, a.units.at[i], "dense",
                       .activation = last ? a.output_activation
                                          : a.activation ? a.activation : eddy_relu,
                       .kernel_initializer = a.kernel_initializer,
                       .kernel_regularizer = a.kernel_regularizer,
                       .not_trainable = a.not_trainable,
                       .seed = eddy__layer_seed(a.seed, i),
                       .reuse = eddy__layer_inner_reuse(&l, inner, scope));
        if (!last)
            y = eddy_dropout_layer(y, a.dropout, a.training, a.training_when,
                                   .seed = eddy__layer_seed(a.seed, i));
    }
    return eddy__layer_end(&l, y);
}

/* The factor by which y is smaller than x in height and width; 0 if it is not an integer. */
static eddy_dims factors(eddy_shape x, eddy_shape y)
{
    eddy_dims d = { .count = 2 };
    for (int i = 1; i <= 2; i++) {
        const int64_t n = y.dim[i] > 0 ? (x.dim[i] + y.dim[i] - 1) / y.dim[i] : 1;
        const bool    fits = n >= 1 && y.dim[i] == (x.dim[i] + n - 1) / n;
        d.at[i - 1] = x.dim[i] == y.dim[i] ? 1 : fits ? n : 0;
    }
    return d;
}

/* True if x and y can have equal sizes except for the channels and, in images, height and
 * width. */
static bool rows_fit(eddy_shape x, eddy_shape y)
{
    bool fits = x.rank == y.rank && x.rank >= 2;
    for (int i = 0; fits && i < x.rank - 1; i++)
        fits = (x.rank == 4 && i > 0) || x.dim[i] < 0 || y.dim[i] < 0 || x.dim[i] == y.dim[i];
    return fits;
}

/* x projected to the shape of y, by a product over its channels. */
static eddy_tensor shortcut(const eddy_layer *l, const eddy_residual_args *a)
{
    const eddy_shape x = eddy_shape_of(a->x), y = eddy_shape_of(a->y);
    char             scope[LAYER_NAME];
    const eddy_init  given = a->kernel_initializer;
    const eddy_init  init = given.build || given.kind || given.value.graph
                            ? given : eddy_he_normal_initializer();
    const char *reuse = eddy__layer_inner_reuse(l, "shortcut", scope);
    if (x.rank != 4)
        return eddy_dense(a->x, y.dim[y.rank - 1], "shortcut", .no_bias = true,
                          .kernel_initializer = init, .not_trainable = a->not_trainable,
                          .seed = a->seed, .reuse = reuse);
    return eddy_conv2d_layer(a->x, y.dim[3], EDDY_DIMS(1), "shortcut", .strides = factors(x, y),
                             .no_bias = true, .kernel_initializer = init,
                             .not_trainable = a->not_trainable, .seed = a->seed, .reuse = reuse);
}

eddy_tensor eddy_residual_with(const eddy_residual_args *given)
{
    eddy_residual_args a = EDDY_TAKE(eddy_residual_args, given);
    const eddy_tensor none = eddy_none(a.x.graph);
    const eddy_shape  x = eddy_shape_of(a.x), y = eddy_shape_of(a.y);
    eddy_layer l = { .who = "residual", .name = a.name, .reuse = a.reuse };
    char one[200], other[200];
    if (eddy_is_valid(a.x) && (!eddy_is_valid(a.y) || a.y.graph != a.x.graph))
        return Add(a.x, a.y);                   /* reports the error */
    if (!eddy__layer_check_input(&l, a.y) || !eddy__layer_check_input(&l, a.x)) return none;
    bool like = eddy_shape_equal(x, y), fits = rows_fit(x, y);
    if (fits && !like) {
        const eddy_dims f = factors(x, y);
        fits = x.dim[x.rank - 1] > 0 && y.dim[y.rank - 1] > 0 &&
               (x.rank != 4 || (f.at[0] > 0 && f.at[1] > 0));
    }
    if (!like && !fits)
        return eddy_fail(
            l.graph, EDDY_BAD_SHAPE, "residual: a shortcut from shape %s to %s is not possible",
            eddy_shape_print(x, one, sizeof one), eddy_shape_print(y, other, sizeof other));
    eddy__layer_begin(&l);
    return eddy__layer_end(&l, Add(like ? a.x : shortcut(&l, &a), a.y));
}
