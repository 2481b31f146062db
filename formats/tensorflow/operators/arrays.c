/* arrays.c -- joining, splitting, padding and rearranging. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

static eddy_tensor *tensors(tf_build *b, int from, int count)
{
    eddy_tensor *x = eddy__region_take(b->memory, (size_t)count, sizeof *x);
    for (int i = 0; x && i < count; i++) x[i] = eddy__tf_in(b, from + i);
    return x;
}

/* ConcatV2 has the axis at the end, Concat in front. */
static bool concat(tf_build *b)
{
    const int first = b->op->variant == 2 ? 0 : 1;
    int64_t   axis;
    if (b->n_in == 0) return eddy__tf_invalid(b, "there are no inputs");
    eddy_tensor *x = tensors(b, first, b->n_in - 1);
    return x && eddy__tf_number_in(b, first ? 0 : b->n_in - 1, "the axis", &axis) &&
           eddy__tf_put_as(b, 0, eddy_concat({ b->n_in - 1, x }, axis), eddy__tf_type_in(b, first));
}

static bool pack(tf_build *b)
{
    eddy_tensor *x = tensors(b, 0, b->n_in);
    return x && eddy__tf_put(b, 0, eddy_stack({ b->n_in, x }, eddy__tf_int(b, "axis", 0)));
}

static bool put_all(tf_build *b, eddy_tensor first, int64_t count, int type)
{
    if (count < 0 || count > 65535) return eddy__tf_invalid(b, "there are too many outputs");
    for (int i = 0; i < (int)count && eddy_graph_status(b->graph) == EDDY_OK; i++)
        if (!eddy__tf_put_as(b, i, eddy_output(first, i), type)) return false;
    return true;
}

static bool unpack(tf_build *b)
{
    const int64_t     num = eddy__tf_int(b, "num", 0);
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (num == 0) return eddy__tf_put_value(b, 0, eddy__tf_new_value(b, TF_NOTHING));
    return put_all(b, eddy_unstack(x, eddy__tf_int(b, "axis", 0), .num = num), num,
                   eddy__tf_type_in(b, 0));
}

static bool split(tf_build *b)
{
    const int64_t num = eddy__tf_int(b, "num_split", 1);
    int64_t       axis;
    return eddy__tf_number_in(b, 0, "the axis", &axis) &&
           put_all(b, eddy_split(eddy__tf_in(b, 1), num, axis), num, eddy__tf_type_in(b, 1));
}

static bool split_sizes(tf_build *b)
{
    int64_t           axis, sizes[TF_MAX_LIST];
    const eddy_tensor x = eddy__tf_in(b, 0);
    const int64_t     num = eddy_shape_count(eddy_shape_of(eddy__tf_in(b, 1)));
    if (eddy__tf_is_computed(b, 1) && num >= 0)
        return eddy__tf_number_in(b, 2, "the axis", &axis) &&
               put_all(b, eddy_split_to(x, eddy__tf_in(b, 1), axis), num, eddy__tf_type_in(b, 0));
    const int         n = eddy__tf_list(b, 1, "the sizes", sizes);
    if (n == TF_FAILED || !eddy__tf_number_in(b, 2, "the axis", &axis)) return false;
    int64_t rest = axis < 0 ? axis + eddy_shape_of(x).rank : axis, open = -1;
    rest = rest >= 0 && rest < eddy_shape_of(x).rank ? eddy_shape_of(x).dim[rest] : -1;
    for (int i = 0; i < n; i++)
        if (sizes[i] == -1) open = i;
        else rest -= sizes[i];
    if (open >= 0) sizes[open] = rest;
    return put_all(b, eddy_split_sizes(x, sizes, n, axis), n, eddy__tf_type_in(b, 0));
}

static bool transpose(tf_build *b)
{
    eddy_dims perm;
    if (!eddy__tf_dims_in(b, 1, "the permutation", &perm)) return false;
    const eddy_tensor y = Transpose(eddy__tf_in(b, 0), perm);
    return eddy__tf_put(b, 0, b->op->variant == 1 ? eddy_conj(y) : y);
}

static bool tile(tf_build *b)
{
    eddy_dims         n;
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (eddy__tf_is_computed(b, 1))
        return eddy__tf_put(b, 0, eddy_tile_to(x, eddy__tf_in(b, 1)));
    return eddy__tf_dims_in(b, 1, "the multiples", &n) && eddy__tf_put(b, 0, eddy_tile(x, n));
}

/* Pairs [n, 2] as two lists. */
static bool pairs(tf_build *b, int i, const char *what, eddy_dims *before, eddy_dims *after)
{
    int64_t   list[TF_MAX_LIST];
    const int n = eddy__tf_list(b, i, what, list);
    if (n == TF_FAILED) return false;
    if (n % 2 || n > 2 * EDDY_MAX_RANK) return eddy__tf_invalid(b, "%s must be pairs", what);
    *before = *after = (eddy_dims){ .count = n ? n / 2 : -1 };
    for (int k = 0; k < n / 2; k++) {
        before->at[k] = list[2 * k];
        after->at[k] = list[2 * k + 1];
    }
    return true;
}

/* Numbers, or the value, that a run computes. */
static bool computed_pad(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), p = eddy__tf_in(b, 1);
    const eddy_tensor before = eddy_index(p, ":, 0"), after = eddy_index(p, ":, 1");
    const eddy_tensor y = eddy_pad_to(x, before, after);
    if (b->n_in < 3) return eddy__tf_put(b, 0, y);
    const eddy_tensor inside = eddy_pad_to(Cast(OnesLike(x), EDDY_BOOL), before, after);
    return eddy__tf_put(b, 0, Where(inside, y, Reshape(eddy__tf_in(b, 2), EDDY_SCALAR)));
}

static bool pad(tf_build *b)
{
    eddy_dims         before, after;
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (eddy__tf_is_computed(b, 1) || eddy__tf_is_computed(b, 2)) return computed_pad(b);
    const eddy_array *value = eddy__tf_has(b, 2) ? eddy__tf_array_of(b, b->in[2]) : NULL;
    return pairs(b, 1, "the paddings", &before, &after) &&
           eddy__tf_put(b, 0, eddy_pad(x, before, after,
                                       .value = value ? eddy_array_item(value) : 0));
}

static bool mirror_pad(tf_build *b)
{
    eddy_dims         before, after;
    const eddy_tensor x = eddy__tf_in(b, 0);
    const bool        symmetric = strcmp(eddy__tf_text(b, "mode", ""), "SYMMETRIC") == 0;
    if (eddy__tf_is_computed(b, 1)) {
        const eddy_tensor p = eddy__tf_in(b, 1);
        return eddy__tf_put(b, 0, eddy_extend_to(x, eddy_index(p, ":, 0"), eddy_index(p, ":, 1"),
                                                 symmetric ? "symmetric" : "reflect"));
    }
    return pairs(b, 1, "the paddings", &before, &after) &&
           eddy__tf_put(b, 0, eddy_mirror_pad(x, before, after, symmetric));
}

static bool reverse(tf_build *b)
{
    eddy_dims axes;
    return eddy__tf_dims_in(b, 1, "the axes", &axes) &&
           eddy__tf_put(b, 0, eddy_reverse(eddy__tf_in(b, 0), axes));
}

static bool reverse_sequence(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), lengths = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_reverse_sequence(x, lengths, eddy__tf_int(b, "seq_dim", 0),
                                                    eddy__tf_int(b, "batch_dim", 0)));
}

static bool roll(tf_build *b)
{
    int64_t     shift[TF_MAX_LIST], axis[TF_MAX_LIST];
    const int   n = eddy__tf_list(b, 1, "the shift", shift),
              m = eddy__tf_list(b, 2, "the axis", axis);
    eddy_tensor x = eddy__tf_in(b, 0);
    if (n == TF_FAILED || m == TF_FAILED) return false;
    if (n != m) return eddy__tf_invalid(b, "there are not as many shifts as axes");
    for (int i = 0; i < n; i++) x = eddy_roll(x, shift[i], axis[i]);
    return eddy__tf_put(b, 0, x);
}

static bool depth(tf_build *b)
{
    const int64_t size = eddy__tf_int(b, "block_size", 1);
    const char   *format = eddy__tf_text(b, "data_format", "NHWC");
    const eddy_tensor x = eddy__tf_in(b, 0);
    return eddy__tf_put(b, 0, b->op->variant ? eddy_depth_to_space(x, size, .data_format = format)
                                             : eddy_space_to_depth(x, size, .data_format = format));
}

/* Zeros for the other axes around the numbers of the blocks' axes. */
static eddy_tensor for_all_axes(eddy_tensor of_blocks, int blocks, int rank)
{
    return eddy_pad(of_blocks, EDDY_DIMS(1), EDDY_DIMS(rank - 1 - blocks));
}

/* Paddings, or sizes to cut off, that a run computes. */
static bool computed_batch_blocks(tf_build *b, eddy_dims block)
{
    eddy_tensor       x = eddy__tf_in(b, 0);
    const eddy_tensor p = eddy__tf_in(b, 2);
    const int         rank = eddy_shape_of(x).rank;
    const eddy_dims   none = { .count = block.count };
    if (rank <= block.count) return eddy__tf_unbound(b, "the paddings must be a constant");
    if (b->op->variant == 0) {
        x = eddy_pad_to(x, for_all_axes(eddy_index(p, ":, 0"), block.count, rank),
                        for_all_axes(eddy_index(p, ":, 1"), block.count, rank));
        return eddy__tf_put(b, 0, eddy_space_to_batch_nd(x, block, none, none));
    }
    x = eddy_batch_to_space_nd(x, block, none, none);
    for (int i = 0; i < block.count; i++) {
        const eddy_tensor row = eddy_gather(p, eddy_number(b->graph, EDDY_INT32, i));
        const eddy_tensor n = CastLike(eddy_size_along(x, i + 1), p);
        x = eddy_slice_along(x, eddy_index(row, "0:1"), Sub(n, eddy_index(row, "1:2")),
                             Reshape(NumberLike(1, n), EDDY_SHAPE(1)), i + 1);
    }
    return eddy__tf_put(b, 0, x);
}

static bool batch_blocks(tf_build *b)
{
    eddy_dims block, before, after;
    if (!eddy__tf_dims_in(b, 1, "the block", &block)) return false;
    if (eddy__tf_is_computed(b, 2)) return computed_batch_blocks(b, block);
    if (!pairs(b, 2, "the paddings", &before, &after)) return false;
    const eddy_tensor x = eddy__tf_in(b, 0);
    return eddy__tf_put(b, 0, b->op->variant ? eddy_batch_to_space_nd(x, block, before, after)
                                             : eddy_space_to_batch_nd(x, block, before, after));
}

static bool one_hot(tf_build *b)
{
    int64_t       n;
    const int64_t axis = eddy__tf_int(b, "axis", -1);
    const bool    computed = eddy__tf_is_computed(b, 1) || eddy__tf_is_computed(b, 2) ||
                          eddy__tf_is_computed(b, 3);
    if (computed && eddy_shape_of(eddy__tf_in(b, 0)).rank >= 0)
        return eddy__tf_put_as(b, 0,
                               eddy_one_hot_to(eddy__tf_in(b, 0), eddy__tf_in(b, 1),
                                               eddy__tf_in(b, 2), eddy__tf_in(b, 3), axis),
                               eddy__tf_type_in(b, 2));
    const eddy_array *on = eddy__tf_need(b, 2, "the value"),
                     *off = eddy__tf_need(b, 3, "the other value");
    if (!on || !off || !eddy__tf_number_in(b, 1, "the depth", &n)) return false;
    const eddy_tensor y = eddy_one_hot(eddy__tf_in(b, 0), n, .on_value = eddy_array_item(on),
                                       .off_value = eddy_array_item(off), .axis = EDDY_DIMS(axis),
                                       .dtype = eddy_array_dtype(on));
    return eddy__tf_put_as(b, 0, y, eddy__tf_type_in(b, 2));
}

static bool diagonal(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (b->op->variant == 2)
        return eddy__tf_put(b, 0, eddy_matrix_set_diag(x, eddy__tf_in(b, 1)));
    return eddy__tf_put(b, 0, b->op->variant ? eddy_matrix_diag_part(x) : eddy_matrix_diag(x));
}

/* The forms with a band: k, and for the first the sizes and the padding. */
static bool diagonal_band(tf_build *b)
{
    const int         v = b->op->variant;
    eddy_dims         k;
    const eddy_tensor x = eddy__tf_in(b, 0);
    const char       *align = eddy__tf_text(b, "align", "RIGHT_LEFT");
    if (!eddy__tf_dims_in(b, v == 2 ? 2 : 1, "the diagonal", &k)) return false;
    if (v == 2)
        return eddy__tf_put(b, 0,
                            eddy_matrix_set_diag(x, eddy__tf_in(b, 1), .k = k, .align = align));
    const eddy_array *fill = eddy__tf_need(b, v == 0 ? 4 : 2, "the padding");
    int64_t           rows = -1, columns = -1;
    if (!fill || (v == 0 && (!eddy__tf_number_in(b, 2, "the number of rows", &rows) ||
                             !eddy__tf_number_in(b, 3, "the number of columns", &columns))))
        return false;
    if (v == 1)
        return eddy__tf_put(b, 0, eddy_matrix_diag_part(x, .k = k, .align = align,
                                                        .padding_value = eddy_array_item(fill)));
    return eddy__tf_put(b, 0, eddy_matrix_diag(x, .k = k, .align = align,
                                               .num_rows = rows < 0 ? EDDY_OMITTED : rows,
                                               .num_cols = columns < 0 ? EDDY_OMITTED : columns,
                                               .padding_value = eddy_array_item(fill)));
}

static bool band_part(tf_build *b)
{
    int64_t lower, upper;
    return eddy__tf_number_in(b, 1, "the lower bandwidth", &lower) &&
           eddy__tf_number_in(b, 2, "the upper bandwidth", &upper) &&
           eddy__tf_put(b, 0, eddy_matrix_band_part(eddy__tf_in(b, 0), lower, upper));
}

const tf_operator eddy__tf_arrays[] = {
    { "BatchToSpaceND", batch_blocks, .variant = 1 },
    { "Concat", concat },
    { "ConcatV2", concat, .variant = 2 },
    { "ConjugateTranspose", transpose, .variant = 1 },
    { "DepthToSpace", depth, .variant = 1 },
    { "Diag", .one = eddy_diag },
    { "DiagPart", .one = eddy_diag_part },
    { "InvertPermutation", .one = eddy_invert_permutation },
    { "MatrixBandPart", band_part },
    { "MatrixDiag", diagonal },
    { "MatrixDiagPart", diagonal, .variant = 1 },
    { "MatrixDiagPartV3", diagonal_band, .variant = 1 },
    { "MatrixDiagV3", diagonal_band },
    { "MatrixSetDiag", diagonal, .variant = 2 },
    { "MatrixSetDiagV3", diagonal_band, .variant = 2 },
    { "MirrorPad", mirror_pad },
    { "OneHot", one_hot },
    { "Pack", pack },
    { "Pad", pad },
    { "PadV2", pad },
    { "ReverseSequence", reverse_sequence },
    { "ReverseV2", reverse },
    { "Roll", roll },
    { "SpaceToBatchND", batch_blocks },
    { "SpaceToDepth", depth },
    { "Split", split },
    { "SplitV", split_sizes },
    { "Tile", tile },
    { "Transpose", transpose },
    { "Unpack", unpack },
    { NULL },
};
