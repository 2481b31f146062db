/* moved.c -- operations that only move elements, or add those that are moved to one place. Where
 * the shapes are known, a session computes where each element goes: the operation is applied to the
 * numbers of the elements, or, if it adds, its adjoint is, which only moves. */
#include "../writer.h"
#include "../rules.h"

/* Numbers of elements begin here, so that they are not mistaken for padding. */
static const double FIRST = 1099511627776.0;
enum { MOST = 1 << 20 };

/* Inputs in a graph of their own: those whose elements count are numbered. */
typedef struct mapping {
    eddy_graph *graph;
    eddy_tensor in[4];
    int64_t     count[4];       /* of the elements of each input; 0 for shapes */
    bool        no_memory;      /* why a value could not be computed */
} mapping;

static eddy_array *numbers(eddy_shape s, double first)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, s);
    for (int64_t i = 0; a && i < eddy_array_count(a); i++) eddy_array_set(a, i, first + (double)i);
    return a;
}

static bool is_shape(const eddy_node *node, int i) { return node->op->shape_inputs >> i & 1; }

/* False with the reason. */
static bool begin(onnx_part *p, mapping *m, bool as_constants)
{
    double first = FIRST;
    *m = (mapping){ .graph = eddy_graph_new() };
    if (p->node->n_inputs > 4) return eddy__part_missing(p, "there are more than 4 inputs");
    for (int i = 0; i < p->node->n_inputs; i++) {
        eddy_shape s;
        if (!eddy__part_known_shape(p, i, &s)) return false;
        if (eddy_shape_count(s) > MOST)
            return eddy__part_missing(p, "input %d has more than %d elements", i, (int)MOST);
        if (!is_shape(p->node, i)) m->count[i] = eddy_shape_count(s);
        eddy_array *a = as_constants && m->count[i] ? numbers(s, first) : NULL;
        m->in[i] = a ? eddy_constant(m->graph, a, NULL)
                     : eddy_placeholder(m->graph, NULL, EDDY_FLOAT64, s);
        eddy_array_free(a);
        first += (double)m->count[i];
    }
    return true;
}

static eddy_tensor apply(const onnx_part *p, mapping *m)
{
    return eddy_apply(p->node->op, p->node->attrs, p->node->n_inputs, m->in,
                      (eddy_apply_args){ m->graph });
}

static bool lacks_memory(const mapping *m, const eddy_session *s)
{
    return !m->graph || !s || eddy_graph_status(m->graph) == EDDY_NO_MEMORY ||
           eddy_session_status(s) == EDDY_NO_MEMORY;
}

/* The value of a tensor of the mapping as elements of this type, less FIRST. *padding is a value
 * that is none of the numbers, and `otherwise` the number that stands for it. */
static eddy_array *places(mapping *m, eddy_tensor t, double otherwise, double *padding)
{
    eddy_session *s = eddy_session_new(m->graph);
    eddy_array   *from = eddy_fetch(s, t), *to = NULL;
    *padding = 0;
    if (from) to = eddy_array_new(EDDY_INT64, EDDY_SHAPE(eddy_array_count(from)));
    for (int64_t i = 0; to && i < eddy_array_count(from); i++) {
        const double v = eddy_array_get(from, i);
        if (v < FIRST) *padding = v;
        eddy_array_set(to, i, v < FIRST ? otherwise : v - FIRST);
    }
    m->no_memory = lacks_memory(m, s) || (from && !to);
    eddy_array_free(from);
    eddy_session_free(s);
    return to;
}

static const char *give(onnx_part *p, const mapping *m, eddy_array *a)
{
    if (!a && m->no_memory) return eddy__writer_no_memory(p->writer), "";
    if (!a)
        return eddy__part_missing(p, "the places of the elements could not be computed"), "";
    const char *name = eddy__part_array(p, a);
    eddy_array_free(a);
    return name;
}

/* All elements of the inputs in one vector, and the padding at its end. */
static const char *flattened(onnx_part *p, const mapping *m, double padding)
{
    const char *parts[5];
    int         n = 0;
    for (int i = 0; i < p->node->n_inputs; i++)
        if (m->count[i])
            parts[n++] =
                eddy__part_binary(p, "Reshape", eddy__part_in(p, i), eddy__part_one(p, -1));
    parts[n++] = eddy__part_binary(p, "Reshape",
                                   eddy__part_number(p, p->node->outputs[0].dtype, padding),
                                   eddy__part_one(p, 1));
    return eddy__part_concat(p, 0, n, parts);
}

static const char *shaped(onnx_part *p, const char *x)
{
    const eddy_shape y = p->node->outputs[0].shape;
    return eddy__part_reshape(p, x, eddy__part_ints(p, y.rank, y.dim));
}

static bool write_moved(onnx_part *p, mapping *m)
{
    double padding;
    if (!begin(p, m, true)) return false;
    int64_t all = 0;
    for (int i = 0; i < 4; i++) all += m->count[i];
    const eddy_tensor y = apply(p, m);
    if (eddy_shape_count(eddy_shape_of(y)) > MOST)
        return eddy__part_missing(p, "the result has more than %d elements", (int)MOST);
    const char *at = give(p, m, places(m, y, (double)all, &padding));
    return eddy__part_put(p, 0,
                          shaped(p, eddy__part_binary(p, "Gather", flattened(p, m, padding), at)));
}

bool eddy__part_moved(onnx_part *p)
{
    mapping    m;
    const bool ok = write_moved(p, &m);
    eddy_graph_free(m.graph);
    return ok;
}

/* Input 0 is added to zeros; the adjoint says where. */
static bool write_added(onnx_part *p, mapping *m, int input)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    const int64_t    n = eddy_shape_count(p->node->outputs[0].shape);
    double           padding;
    if (!begin(p, m, false)) return false;
    const eddy_tensor y = apply(p, m);
    eddy_array       *own = n >= 0 && n <= MOST ? numbers(p->node->outputs[0].shape, FIRST) : NULL;
    if (!own) return eddy__part_missing(p, "the result must have a known shape and few elements");
    const eddy_tensor to = eddy_constant(m->graph, own, NULL);
    eddy_tensor       back = EDDY_NO_TENSOR;
    eddy_array_free(own);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(m->in[input]), &back, .grad_ys = EDDY_LIST(to));
    const char *at = give(p, m, places(m, back, (double)n, &padding));
    const char *const in[] = {
        eddy__part_filled(p, d, 0, eddy__part_one(p, n + 1)), at,
        eddy__part_binary(p, "Reshape", eddy__part_in(p, input), eddy__part_one(p, -1))
    };
    onnx_call c = eddy__call(p, "ScatterElements", 3, in);
    eddy__call_text(&c, "reduction", "add");
    const char *const cut[] = { eddy__call_end(&c), eddy__part_one(p, 0), eddy__part_one(p, n) };
    onnx_call slice = eddy__call(p, "Slice", 3, cut);
    return eddy__part_put(p, 0, shaped(p, eddy__call_end(&slice)));
}

static bool added_from(onnx_part *p, int input)
{
    mapping    m;
    const bool ok = write_added(p, &m, input);
    eddy_graph_free(m.graph);
    return ok;
}
static bool added(onnx_part *p) { return added_from(p, 0); }
static bool added_second(onnx_part *p) { return added_from(p, 1); }

/* A value that depends on shapes alone. */
static bool known(onnx_part *p)
{
    mapping m;
    bool    ok = begin(p, &m, false);
    if (ok) {
        const eddy_shape y = p->node->outputs[0].shape;
        if (eddy_shape_is_known(y) && eddy_shape_count(y) <= MOST) {
            eddy_session *s = eddy_session_new(m.graph);
            eddy_array   *value = eddy_fetch(s, apply(p, &m));
            m.no_memory = lacks_memory(&m, s);
            const char *v = give(p, &m, value);
            eddy_session_free(s);
            eddy__part_put(p, 0, eddy__part_cast(p, v, EDDY_FLOAT64, p->node->outputs[0].dtype));
        } else {
            ok = eddy__part_missing(p, "the result must have a known shape and few elements");
        }
    }
    eddy_graph_free(m.graph);
    return ok;
}

static const onnx_row rows[] = {
    { "MirrorPad", eddy__part_moved },
    { "MirrorPadGrad", added },
    { "TileGrad", added },
    { "Roll", eddy__part_moved },
    { "Shift", eddy__part_moved },
    { "SpaceToDepth", eddy__part_moved },
    { "DepthToSpace", eddy__part_moved },
    { "SpaceToBatchND", eddy__part_moved },
    { "BatchToSpaceND", eddy__part_moved },
    { "MatrixBandPart", eddy__part_moved },
    { "MatrixDiagV3", eddy__part_moved },
    { "MatrixDiagPartV3", eddy__part_moved },
    { "MatrixSetDiagV3", eddy__part_moved },
    { "ExtractImagePatches", eddy__part_moved },
    { "ExtractImagePatchesGrad", added_second },
    { "Frame", eddy__part_moved },
    { "OverlapAndAdd", added },
    { "BasisLike", known },
};

const onnx_family eddy__write_moved = FAMILY_OF(rows);
