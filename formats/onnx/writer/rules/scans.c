/* scans.c -- cumulative operations and recurrences along an axis, as Scan: its body has the value
 * so far and one element of each lane. */
#include "subgraphs.h"

#include <math.h>

/* A scan of up to two tensors, with one or two values that are carried on. */
typedef struct scan {
    int         rank, axis;
    bool        reverse, positions; /* the second input is a vector of positions */
    eddy_dtype  type[2];            /* of the carried values, of which the first is the result */
    int         n_carried, n_in;
    const char *start[2], *in[2];   /* the lanes of the start have no axis */
} scan;

/* The axes of the tensor without that of the scan, each of unknown size. */
static eddy_type lane(eddy_dtype d, int rank)
{
    eddy_type t = { d, { .rank = rank - 1 } };
    for (int i = 0; i < rank - 1; i++) t.shape.dim[i] = EDDY_ANY;
    return t;
}

/* A tensor of one number for each lane of input 0. */
static const char *lanes_of(onnx_part *p, int axis, eddy_dtype d, double v)
{
    const eddy_shape x = eddy__part_type(p, 0).shape;
    const char      *sizes[EDDY_MAX_RANK] = { eddy__part_ints(p, 0, NULL) };
    int              n = 0;
    for (int i = 0; i < x.rank; i++)
        if (i != axis) sizes[n++] = eddy__part_size(p, eddy__part_in(p, 0), x, i);
    return eddy__part_filled(p, d, v, eddy__part_concat(p, 0, n > 0 ? n : 1, sizes));
}

/* Writes the next carried values, from the present ones and the elements. */
typedef void scan_step(onnx_part *p, const scan *s, const char *const *so_far,
                       const char *const *in, const char **next);

/* The results are the values after each step; before it, if the operation is exclusive. */
static void write_scan(onnx_part *p, const scan *s, scan_step *step, const char **results)
{
    const bool    exclusive = eddy__part_bool(p, "exclusive");
    message       head = { 0 };
    const char   *carried[2], *rows[2], *next[2] = { "", "" }, *in[4], *out[4];
    const int64_t axis[2] = { s->axis, s->positions ? 0 : s->axis },
                  out_axis[2] = { s->axis, s->axis };
    const int64_t back[2] = { s->reverse, s->reverse };
    const message kept = eddy__inner_graph_begin(p);
    for (int i = 0; i < s->n_carried; i++)
        carried[i] = eddy__inner_graph_input(p, &head, "so_far", lane(s->type[i], s->rank));
    for (int i = 0; i < s->n_in; i++)
        rows[i] = eddy__inner_graph_input(p, &head, "element",
                                          i && s->positions ? lane(EDDY_INT64, 1)
                                                            : lane(s->type[0], s->rank));
    step(p, s, carried, rows, next);
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < s->n_carried; i++)
            eddy__inner_graph_output(p, &head, twice && exclusive ? carried[i] : next[i],
                                     lane(s->type[i], s->rank));
    message body = eddy__inner_graph_end(p, &head, kept);
    for (int i = 0; i < s->n_carried; i++) in[i] = s->start[i];
    for (int i = 0; i < s->n_in; i++) in[s->n_carried + i] = s->in[i];
    onnx_call c = eddy__call(p, "Scan", s->n_carried + s->n_in, in);
    eddy__call_graph(&c, "body", &body);
    eddy__call_int(&c, "num_scan_inputs", s->n_in);
    eddy__call_ints(&c, "scan_input_axes", s->n_in, axis);
    eddy__call_ints(&c, "scan_input_directions", s->n_in, back);
    eddy__call_ints(&c, "scan_output_axes", s->n_carried, out_axis);
    eddy__call_ints(&c, "scan_output_directions", s->n_carried, back);
    eddy__call_outputs(&c, 2 * s->n_carried, out);
    for (int i = 0; i < s->n_carried; i++) results[i] = out[s->n_carried + i];
}

static bool begin(onnx_part *p, scan *s, int n_in)
{
    *s = (scan){ .reverse = eddy__part_bool(p, "reverse"), .n_in = n_in, .n_carried = 1 };
    if (!eddy__part_known_rank(p, 0, &s->rank)) return false;
    s->axis = (int)eddy__part_axis(p, s->rank);
    const eddy_dtype d = eddy__part_dtype(p, 0);
    s->type[0] = d == EDDY_UINT8 ? EDDY_INT32 : d;
    for (int i = 0; i < n_in; i++)
        s->in[i] = eddy__part_cast(p, eddy__part_in(p, i), d, s->type[0]);
    return true;
}

static bool put(onnx_part *p, const scan *s, const char *y)
{
    return eddy__part_put(p, 0, eddy__part_cast(p, y, s->type[0], p->node->outputs[0].dtype));
}

/* ONNX Runtime 1.20 fails on a Scan of tensors without elements. */
static bool is_empty(const onnx_part *p)
{
    return eddy_shape_count(eddy__part_type(p, 0).shape) == 0;
}

/* A scan with one carried value. */
static bool scan_of(onnx_part *p, int n_in, double start, scan_step *step)
{
    const char *y;
    scan        s;
    if (!begin(p, &s, n_in)) return false;
    if (is_empty(p)) return put(p, &s, s.in[0]);
    s.start[0] = lanes_of(p, s.axis, s.type[0], start);
    write_scan(p, &s, step, &y);
    return put(p, &s, y);
}

/* ---------------------------------------------------- products, recurrences -- */

static void multiply(onnx_part *p, const scan *s, const char *const *so_far,
                     const char *const *in, const char **next)
{
    (void)s;
    next[0] = eddy__part_binary(p, "Mul", so_far[0], in[0]);
}

static bool cumprod(onnx_part *p) { return scan_of(p, 1, 1, multiply); }

static void add_exponentials(onnx_part *p, const scan *s, const char *const *so_far,
                             const char *const *in, const char **next)
{
    next[0] = eddy__part_formula(p, s->type[0], "@LogAddExp(a, b)", so_far[0], in[0]);
}

static bool cumulative_logsumexp(onnx_part *p)
{
    return scan_of(p, 1, -INFINITY, add_exponentials);
}

/* y = x + w y; w of the first element meets a zero. */
static void recur(onnx_part *p, const scan *s, const char *const *so_far, const char *const *in,
                  const char **next)
{
    next[0] = eddy__part_formula(p, s->type[0], "Add(b, Mul(c, a))", so_far[0], in[0], in[1]);
}

static bool linear_scan(onnx_part *p) { return scan_of(p, 2, 0, recur); }

/* ----------------------------------------------------------------- extremes -- */

/* The element and its position replace the others if there are none, and unless it is beaten; NaN
 * replaces all. */
static void keep_extreme(onnx_part *p, const scan *s, const char *const *so_far,
                         const char *const *in, const char **next)
{
    const char *beats = p->node->op->name[4] == 'a' ? "GreaterOrEqual" : "LessOrEqual";
    const char *takes = eddy__part_binary(p, beats, in[0], so_far[0]);
    takes = eddy__part_formula(p, EDDY_INT64, "Or(a, Less(b, 0))", takes, so_far[1]);
    if (eddy_dtype_is_floating(s->type[0]))
        takes = eddy__part_formula(p, s->type[0], "Or(a, IsNaN(b))", takes, in[0]);
    next[0] = eddy__part_formula(p, s->type[0], "Where(a, b, c)", takes, in[0], so_far[0]);
    next[1] = eddy__part_formula(p, EDDY_INT64, "Where(a, b, c)", takes, in[1], so_far[1]);
}

static bool extreme(onnx_part *p)
{
    const char *y[2];
    scan        s;
    if (!begin(p, &s, 1)) return false;
    if (is_empty(p)) {
        put(p, &s, s.in[0]);
        return eddy__part_put(p, 1, eddy__part_cast(p, s.in[0], s.type[0],
                                                    p->node->outputs[1].dtype));
    }
    const char *n = eddy__part_size(p, eddy__part_in(p, 0), eddy__part_type(p, 0).shape, s.axis);
    s.in[1] = eddy__part_formula(p, EDDY_INT64, "Range(0, Squeeze(a, b), 1)", n,
                                 eddy__part_one(p, 0));
    s.positions = true;
    s.n_in = s.n_carried = 2;
    s.type[1] = EDDY_INT64;
    s.start[0] = lanes_of(p, s.axis, s.type[0], 0);
    s.start[1] = lanes_of(p, s.axis, EDDY_INT64, -1);
    write_scan(p, &s, keep_extreme, y);
    put(p, &s, y[0]);
    return eddy__part_put(p, 1, eddy__part_cast(p, y[1], EDDY_INT64, p->node->outputs[1].dtype));
}

static const onnx_row rows[] = {
    { "Cumprod", cumprod },
    { "CumulativeLogsumexp", cumulative_logsumexp },
    { "LinearScan", linear_scan },
    { "Cummax", extreme },
    { "Cummin", extreme },
};

const onnx_family eddy__write_scans = FAMILY_OF(rows);
