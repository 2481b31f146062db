/* diagonal.c -- diagonals of matrices: building a matrix from diagonals (diag), extracting them
 * (diag_part), and replacing them (set_diag).
 *
 * A band of diagonals is packed with one diagonal per row, the uppermost first; shorter diagonals
 * are aligned to the left or the right of their row. */
#include "graph/base/min_max.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct diag_attrs {
    int64_t     lower, upper;
    int64_t     num_rows, num_cols;    /* 0: the smallest that fit */
    double      padding_value;
    const char *align;
} diag_attrs;

static const eddy_attr_field diag_fields[] =
    EDDY_FIELDS(diag_attrs, lower, upper, num_rows, num_cols, padding_value, align);

#ifdef EDDY_HEADER
/* Options of eddy_matrix_diag and _diag_part. */
typedef struct eddy_matrix_diag_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_matrix_diag_args));
    eddy_tensor x;
    eddy_dims   k;                     /* one diagonal, or the lowest and the uppermost */
    int64_t     num_rows EDDY_DEFAULT(EDDY_OMITTED);
    int64_t     num_cols EDDY_DEFAULT(EDDY_OMITTED);
    double      padding_value;
    const char *align;
    const char *name;
} eddy_matrix_diag_args;

typedef struct eddy_matrix_set_diag_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_matrix_set_diag_args));
    eddy_tensor x;
    eddy_tensor diagonal;
    eddy_dims   k;
    const char *align;
    const char *name;
} eddy_matrix_set_diag_args;
#endif

/* ----------------------------------------------------------------- bands -- */

enum { FARTHEST = 1 << 30 };

/* The alignment of shorter diagonals; returns false unless `align` is one of the four words. */
static bool aligned(const char *align, bool *upper_left, bool *lower_left)
{
    const char *const word = align && *align ? align : "RIGHT_LEFT";
    *upper_left = strncmp(word, "LEFT_", 5) == 0;
    *lower_left = strstr(word, "_LEFT") != NULL;
    return strcmp(word, *upper_left ? *lower_left ? "LEFT_LEFT" : "LEFT_RIGHT"
                                    : *lower_left ? "RIGHT_LEFT" : "RIGHT_RIGHT") == 0;
}

static bool band_is_valid(eddy_infer *c)
{
    const diag_attrs *a = c->attrs;
    bool upper, lower;
    if (!aligned(a->align, &upper, &lower))
        return eddy_infer_fail(
            c, EDDY_INVALID_ARGUMENT,
            "align is '%.40s'; it must be RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT",
            a->align);
    if (a->lower > a->upper || a->lower < -FARTHEST || a->upper > FARTHEST)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the range of diagonals from %lld to %lld is empty",
                               (long long)a->lower, (long long)a->upper);
    if (a->padding_value != 0 && !eddy_dtype_is_integer(c->in[0].dtype) &&
        !eddy__dtype_is_float(c->in[0].dtype))
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "padding_value must be 0 for %s",
                               eddy_dtype_name(c->in[0].dtype));
    return true;
}

/* The length of the longest diagonal of a band, or unknown. */
static int64_t longest(const diag_attrs *a, int64_t rows, int64_t columns)
{
    if (rows == EDDY_ANY || columns == EDDY_ANY) return EDDY_ANY;
    return eddy__max(eddy__min(rows + eddy__min(a->upper, 0), columns - eddy__max(a->lower, 0)), 0);
}

/* Whether a matrix of this shape has the diagonals. */
static bool band_fits(eddy_infer *c, eddy_shape x)
{
    const diag_attrs *a = c->attrs;
    if (x.rank < 0) return true;
    const int64_t rows = x.dim[x.rank - 2], columns = x.dim[x.rank - 1];
    if ((rows == EDDY_ANY || a->lower > -rows || a->lower == 0) &&
        (columns == EDDY_ANY || a->upper < columns || a->upper == 0))
        return true;
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                           "diagonals %lld to %lld are not all within a matrix of %lld by %lld",
                           (long long)a->lower, (long long)a->upper, (long long)rows,
                           (long long)columns);
}

/* The shape of the packed diagonals of x. */
static eddy_shape packed_shape(const diag_attrs *a, eddy_shape x)
{
    if (x.rank < 0) return x;
    eddy_shape s = { .rank = x.rank - 2 };
    memcpy(s.dim, x.dim, (size_t)s.rank * sizeof *s.dim);
    if (a->upper > a->lower) s.dim[s.rank++] = a->upper - a->lower + 1;
    s.dim[s.rank++] = longest(a, x.dim[x.rank - 2], x.dim[x.rank - 1]);
    return s;
}

/* The band of a batch of matrices: their number and size, the length of the longest diagonal. */
typedef struct band {
    const diag_attrs *a;
    int64_t           batch, rows, columns, longest;
} band;

static band band_of(const diag_attrs *a, eddy_shape x)
{
    const int64_t rows = x.dim[x.rank - 2], columns = x.dim[x.rank - 1];
    return (band){ a, eddy__shape_product(x, 0, x.rank - 2), rows, columns,
                   longest(a, rows, columns) };
}

/* The loops over diagonal d of all matrices, for reading or for writing. */
static eddy_box diagonal(const band *b, int64_t d, bool into)
{
    const diag_attrs *a = b->a;
    const int64_t rows = b->rows + eddy__min(d, 0), columns = b->columns - eddy__max(d, 0);
    const int64_t n = eddy__max(eddy__min(rows, columns), 0);
    const int64_t at = d >= 0 ? d : -d * b->columns;
    const int64_t packed = (a->upper - a->lower + 1) * b->longest;
    bool upper_left, lower_left;
    aligned(a->align, &upper_left, &lower_left);
    const bool    left = (d >= 0 && upper_left) || (d <= 0 && lower_left);
    const int64_t place = (a->upper - d) * b->longest + (left ? 0 : b->longest - n);
    const int64_t matrix = b->rows * b->columns, step = b->columns + 1;
    eddy_box box = { .to_at = into ? at : place, .from_at = into ? place : at };
    eddy__box_add(&box, b->batch, into ? matrix : packed, into ? packed : matrix);
    eddy__box_add(&box, n, into ? step : 1, into ? 1 : step);
    return box;
}

static void move_band(const eddy_kernel *k, const band *b, bool into, void *to, const void *from)
{
    const size_t size = eddy_dtype_size(k->out[0]->type.dtype);
    if (k->out[0]->count == 0) return;
    for (int64_t d = b->a->lower; d <= b->a->upper; d++) {
        const eddy_box box = diagonal(b, d, into);
        eddy__box_copy_parallel(k, &box, size, to, from);
    }
}

/* Fills the whole output with the padding value. */
static eddy_status fill_padding(eddy_kernel *k)
{
    const diag_attrs *a = k->attrs;
    const eddy_buffer *y = k->out[0];
    const size_t size = eddy_dtype_size(y->type.dtype);
    eddy_box all = { .rank = 0 };
    eddy__box_add(&all, y->count, 1, 0);
    if (a->padding_value != 0) eddy__box_copy_parallel(k, &all, size, y->data, k->state);
    else if (y->count > 0) memset(y->data, 0, (size_t)y->count * size);
    return EDDY_OK;
}

static eddy_status padding_prepare(eddy_kernel *k)
{
    const diag_attrs *a = k->attrs;
    const double      value = a->padding_value;
    void       *room = eddy_kernel_state(k, 16);
    eddy_array *v = value != 0 ? eddy_array_of(k->out[0]->type.dtype, value) : NULL;
    const bool  ok = room && (v || value == 0);
    if (ok && v) memcpy(room, eddy_array_data(v), eddy_array_bytes(v));
    eddy_array_free(v);
    return ok ? EDDY_OK : eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the values");
}

/* One diagonal, or the ends of a band; any other count gives a band that is refused. */
static diag_attrs attrs_of(eddy_dims k, const char *align)
{
    const int n = k.count;
    if (n > 2 || k.no_number_) return (diag_attrs){ .lower = 1, .upper = 0 };
    return (diag_attrs){ .lower = n > 0 ? k.at[0] : 0, .align = align,
                         .upper = n > 0 ? k.at[n - 1] : 0 };
}

/* ----------------------------------------------------------- matrix_diag -- */

/* The number of rows and columns of a matrix with these diagonals. */
static bool matrix_size(eddy_infer *c, int64_t n, int64_t *rows, int64_t *columns)
{
    const diag_attrs *a = c->attrs;
    *rows = a->num_rows > 0 ? a->num_rows : EDDY_ANY;
    *columns = a->num_cols > 0 ? a->num_cols : EDDY_ANY;
    if (a->num_rows < 0 || a->num_cols < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "num_rows is %lld and num_cols is %lld; neither must be negative",
                               (long long)a->num_rows, (long long)a->num_cols);
    if (n == EDDY_ANY) return true;
    const int64_t least_rows = n - eddy__min(a->upper, 0);
    const int64_t least_columns = n + eddy__max(a->lower, 0);
    if (a->num_rows == 0)
        *rows = a->num_cols > 0 ? least_rows : eddy__max(least_rows, least_columns);
    if (a->num_cols == 0)
        *columns = a->num_rows > 0 ? least_columns : eddy__max(least_rows, least_columns);
    if (*rows >= least_rows && *columns >= least_columns &&
        (*rows == least_rows || *columns == least_columns))
        return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "diagonals of length %lld do not fit in a matrix of %lld by %lld",
                           (long long)n, (long long)*rows, (long long)*columns);
}

static bool matrix_diag_infer(eddy_infer *c)
{
    const diag_attrs *a = c->attrs;
    const eddy_shape  x = c->in[0].shape;
    const int         own = a->upper > a->lower ? 2 : 1;
    const int64_t     n = a->upper - a->lower + 1;
    if (!band_is_valid(c)) return false;
    if (x.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, x);
    if (x.rank < own || (own == 2 && x.dim[x.rank - 2] != EDDY_ANY && x.dim[x.rank - 2] != n))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x does not hold %lld diagonals", (long long)n);
    eddy_shape s = { .rank = x.rank - own + 2 };
    if (s.rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               s.rank, EDDY_MAX_RANK);
    memcpy(s.dim, x.dim, (size_t)(x.rank - own) * sizeof *s.dim);
    if (!matrix_size(c, x.dim[x.rank - 1], &s.dim[s.rank - 2], &s.dim[s.rank - 1])) return false;
    return band_fits(c, s) && eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static eddy_status matrix_diag_kernel(eddy_kernel *k)
{
    const band b = band_of(k->attrs, k->out[0]->type.shape);
    fill_padding(k);
    move_band(k, &b, true, k->out[0]->data, k->in[0]->data);
    return EDDY_OK;
}

static eddy_tensor part_of(eddy_tensor x, const void *attrs)
{
    diag_attrs a = *(const diag_attrs *)attrs;
    a.padding_value = 0;
    a.num_rows = a.num_cols = 0;
    return eddy_apply1(&eddy_op_matrix_diag_part, &a, x);
}

static eddy_tensor set_in(eddy_tensor x, eddy_tensor diagonals, const void *attrs)
{
    const diag_attrs *a = attrs;
    return eddy_apply2(&eddy_op_matrix_set_diag,
                       &(diag_attrs){ .lower = a->lower, .upper = a->upper, .align = a->align }, x,
                       diagonals);
}

static void matrix_diag_gradient(eddy_rule *r) { r->dx[0] = part_of(r->dy[0], r->attrs); }

const eddy_op_def eddy_op_matrix_diag = {
    .name = "MatrixDiagV3", .label = "MatrixDiag", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(diag_attrs), .attrs = diag_fields,
    .infer = matrix_diag_infer, .prepare = padding_prepare, .kernel = matrix_diag_kernel,
    .gradient = matrix_diag_gradient, .batch = eddy_batch_as_is,
};

/** y = matrices with the diagonals x, and padding_value elsewhere.
 *
 *  x              any element type, [..., n], or [..., d, n] for a band of d diagonals
 *  k              which diagonal: EDDY_DIMS(1) is the one above the main diagonal, which is the
 *                 default; or a band, EDDY_DIMS(lowest, uppermost), the uppermost first in x
 *  num_rows       of y; default: as few as fit
 *  num_cols       of y; default: as few as fit
 *  padding_value  saturated for integers; must be 0 unless x has a real type other than float16
 *                 and bfloat16
 *  align          alignment in the rows of x of diagonals shorter than n, first of those above
 *                 the main diagonal, then of those below: "RIGHT_LEFT" (default), "LEFT_RIGHT",
 *                 "LEFT_LEFT" or "RIGHT_RIGHT"
 *
 *  Errors: EDDY_BAD_SHAPE, EDDY_INVALID_ARGUMENT or EDDY_BAD_DTYPE for invalid arguments.
 *  Gradient: dx = the diagonals of dy.  TensorFlow: MatrixDiagV3. */
eddy_tensor eddy_matrix_diag_with(const eddy_matrix_diag_args *given)
{
    eddy_matrix_diag_args a = EDDY_TAKE(eddy_matrix_diag_args, given);
    diag_attrs attrs = attrs_of(a.k, a.align);
    if (!eddy__attribute_count(a.x.graph, "matrix_diag: num_rows", a.num_rows, &attrs.num_rows) ||
        !eddy__attribute_count(a.x.graph, "matrix_diag: num_cols", a.num_cols, &attrs.num_cols))
        return eddy_none(a.x.graph);
    attrs.padding_value = a.padding_value;
    return eddy__apply_named(a.name, &eddy_op_matrix_diag, &attrs, 1, &a.x);
}

/* ------------------------------------------------------ matrix_diag_part -- */

static bool part_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape;
    if (!band_is_valid(c) || !band_fits(c, x)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, packed_shape(c->attrs, x));
}

static eddy_status part_kernel(eddy_kernel *k)
{
    const band b = band_of(k->attrs, k->in[0]->type.shape);
    if (b.a->upper > b.a->lower) fill_padding(k);
    move_band(k, &b, false, k->out[0]->data, k->in[0]->data);
    return EDDY_OK;
}

static void part_gradient(eddy_rule *r)
{
    r->dx[0] = set_in(ZerosLike(r->x[0]), r->dy[0], r->attrs);
}

const eddy_op_def eddy_op_matrix_diag_part = {
    .name = "MatrixDiagPartV3", .label = "MatrixDiagPart", .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .attrs_size = sizeof(diag_attrs), .attrs = diag_fields,
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_MOVES, .infer = part_infer, .prepare = padding_prepare, .kernel = part_kernel,
    .gradient = part_gradient, .batch = eddy_batch_as_is,
};

/** y = the diagonals of the matrices x: [..., n], or [..., d, n] for a band of d.
 *
 *  x              any element type, [..., rows, columns]
 *  k, align       as for eddy_matrix_diag; every diagonal must be inside the matrix
 *  padding_value  fills the rest of the rows of shorter diagonals
 *
 *  num_rows and num_cols are ignored.
 *  Errors: as for eddy_matrix_diag.
 *  Gradient: dx = zeros with the diagonals dy.  TensorFlow: MatrixDiagPartV3. */
eddy_tensor eddy_matrix_diag_part_with(const eddy_matrix_diag_args *given)
{
    eddy_matrix_diag_args a = EDDY_TAKE(eddy_matrix_diag_args, given);
    diag_attrs attrs = attrs_of(a.k, a.align);
    attrs.padding_value = a.padding_value;
    return eddy__apply_named(a.name, &eddy_op_matrix_diag_part, &attrs, 1, &a.x);
}

/* ------------------------------------------------------- matrix_set_diag -- */

static bool set_infer(eddy_infer *c)
{
    const eddy_type *x = &c->in[0], *d = &c->in[1];
    char text[128];
    if (!band_is_valid(c) || !band_fits(c, x->shape)) return false;
    const eddy_shape want = packed_shape(c->attrs, x->shape);
    if (!eddy_shape_compatible(want, d->shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the diagonals must have the shape %s",
                               eddy_shape_print(want, text, sizeof text));
    return eddy__infer_yield(c, 0, x->dtype, x->shape);
}

static eddy_status set_kernel(eddy_kernel *k)
{
    const eddy_buffer *x = k->in[0], *y = k->out[0];
    const band b = band_of(k->attrs, y->type.shape);
    eddy_box all = { .rank = 0 };
    eddy__box_add(&all, y->count, 1, 1);
    if (y->data != x->data)
        eddy__box_copy_parallel(k, &all, eddy_dtype_size(y->type.dtype), y->data, x->data);
    move_band(k, &b, true, y->data, k->in[1]->data);
    return EDDY_OK;
}

static void set_gradient(eddy_rule *r)
{
    r->dx[0] = set_in(r->dy[0], ZerosLike(r->x[1]), r->attrs);
    r->dx[1] = part_of(r->dy[0], r->attrs);
}

const eddy_op_def eddy_op_matrix_set_diag = {
    .name = "MatrixSetDiagV3", .label = "MatrixSetDiag", .min_inputs = 2, .max_inputs = 2,
    .outputs = 1, .flags = EDDY_OP_IN_PLACE, .attrs_size = sizeof(diag_attrs), .attrs = diag_fields,
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(2) }, { "diagonal", EDDY_LIKE(0) }),
    .infer = set_infer, .kernel = set_kernel, .gradient = set_gradient, .batch = eddy_batch_as_is,
};

/** y = the matrices x with their diagonals replaced.
 *
 *  x         any element type, [..., rows, columns]
 *  diagonal  same type as x, with the shape that eddy_matrix_diag_part returns
 *  k, align  as for eddy_matrix_diag
 *
 *  Errors: as for eddy_matrix_diag.
 *  Gradient: dx = dy with zeros on these diagonals; ddiagonal = the diagonals of dy.
 *  TensorFlow: MatrixSetDiagV3. */
eddy_tensor eddy_matrix_set_diag_with(const eddy_matrix_set_diag_args *given)
{
    eddy_matrix_set_diag_args a = EDDY_TAKE(eddy_matrix_set_diag_args, given);
    const diag_attrs attrs = attrs_of(a.k, a.align);
    return eddy__apply_named(a.name, &eddy_op_matrix_set_diag, &attrs, 2,
                             (eddy_tensor[]){ a.x, a.diagonal });
}
