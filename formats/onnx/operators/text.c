/* text.c -- counts of n-grams. Of texts, only those that are numbers. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

typedef struct grams {
    const int64_t *pool, *starts, *columns; /* the n-grams, where those of each length begin, and
                                             * where each is counted */
    const double  *weights;                 /* of each n-gram, or NULL */
    int            n_pool, n_starts, n_columns, n_weights;
    int64_t        skips, shortest, longest, outputs;
    bool           counts, weighs; /* the result is a count, and multiplied by the weight */
} grams;

/* Column `column` of x [examples, length], from position `from`, so many positions. */
static eddy_tensor window(eddy_tensor x, int64_t from, int64_t size)
{
    return eddy_slice(x, EDDY_DIMS(0, from), EDDY_DIMS(-1, size));
}

/* How often the n-gram at `gram`, whose items are skip + 1 apart, occurs in each example. */
static eddy_tensor occurrences(eddy_tensor x, const int64_t *gram, int64_t n, int64_t step,
                               int64_t length)
{
    const int64_t size = length - (n - 1) * step;
    eddy_tensor   all = EDDY_NO_TENSOR;
    for (int64_t i = 0; i < n; i++) {
        const eddy_tensor same = Equal(window(x, i * step, size),
                                       eddy_const(x.graph, EDDY_INT64, EDDY_SCALAR, &gram[i]));
        all = i ? LogicalAnd(all, same) : same;
    }
    return Sum(Cast(all, EDDY_FLOAT32), EDDY_AXES(1));
}

static bool grams_of(onnx_build *b, grams *g)
{
    *g = (grams){ .skips = eddy__onnx_int(b, "max_skip_count", 0),
                  .shortest = eddy__onnx_int(b, "min_gram_length", 1),
                  .longest = eddy__onnx_int(b, "max_gram_length", 1) };
    g->pool = eddy__onnx_ints(b, "pool_int64s", &g->n_pool);
    g->starts = eddy__onnx_ints(b, "ngram_counts", &g->n_starts);
    g->columns = eddy__onnx_ints(b, "ngram_indexes", &g->n_columns);
    g->weights = eddy__onnx_floats(b, "weights", &g->n_weights);
    g->counts = !eddy__onnx_is(b, "mode", "IDF", false);
    g->weighs = !eddy__onnx_is(b, "mode", "TF", false) && g->weights;
    for (int i = 0; i < g->n_columns; i++) {
        if (g->columns[i] < 0 || g->columns[i] > 1 << 20)
            return eddy__onnx_invalid(b, "an index of an n-gram is out of range");
        if (g->columns[i] >= g->outputs) g->outputs = g->columns[i] + 1;
    }
    if (!g->pool || !g->starts || !g->columns)
        return eddy__onnx_missing(b, "n-grams of strings are not supported");
    if (g->n_pool > 4096 || g->skips > 64 || g->skips < 0 || g->n_starts > 16 ||
        (g->weighs && g->n_weights < g->n_columns))
        return eddy__onnx_missing(b, "the n-grams are too many, or their weights too few");
    return true;
}

static eddy_tensor count_of(const grams *g, eddy_tensor x, const int64_t *gram, int64_t n,
                            int64_t length)
{
    eddy_tensor sum = eddy_none(x.graph);
    for (int64_t skip = 0; skip <= (n == 1 ? 0 : g->skips); skip++) {
        if ((n - 1) * (skip + 1) >= length) break;
        const eddy_tensor c = occurrences(x, gram, n, skip + 1, length);
        sum = skip ? Add(sum, c) : c;
    }
    return sum;
}

static bool tf_idf(onnx_build *b)
{
    const eddy_shape s = eddy_shape_of(eddy__onnx_in(b, 0));
    grams            g;
    if (!grams_of(b, &g)) return false;
    if ((s.rank != 1 && s.rank != 2) || s.dim[s.rank - 1] < 0)
        return eddy__onnx_missing(b, "the length must be known");
    eddy_tensor x = Cast(eddy__onnx_in(b, 0), EDDY_INT64);
    if (s.rank == 1) x = ExpandDims(x, 0);
    const int64_t     length = s.dim[s.rank - 1];
    const eddy_tensor none =
        Cast(eddy_slice(eddy_pad(ZerosLike(x), EDDY_DIMS(0, 1), EDDY_DIMS(0, 0)), EDDY_DIMS(0, 0),
                        EDDY_DIMS(-1, 1)),
             EDDY_FLOAT32);
    eddy_tensor *column = eddy__region_take(b->memory, (size_t)g.outputs, sizeof *column);
    int          number = 0;
    if (!column || g.outputs == 0) return eddy__onnx_invalid(b, "there are no n-grams");
    for (int64_t i = 0; i < g.outputs; i++) column[i] = none;
    for (int k = 0; k < g.n_starts; k++) {
        const int64_t n = k + 1, end = k + 1 < g.n_starts ? g.starts[k + 1] : g.n_pool;
        for (int64_t at = g.starts[k]; at >= 0 && at <= g.n_pool - n && at + n <= end;
             at += n, number++) {
            if (number >= g.n_columns) return eddy__onnx_invalid(b, "an n-gram has no index");
            if (n < g.shortest || n > g.longest) continue;
            eddy_tensor c = count_of(&g, x, g.pool + at, n, length);
            if (!eddy_is_valid(c)) continue;
            if (!g.counts) c = Cast(Greater(c, 0), EDDY_FLOAT32);
            if (g.weighs) c = Mul(c, g.weights[number]);
            column[g.columns[number]] = ExpandDims(c, 1);
        }
    }
    eddy_tensor y = eddy_concat({ (int)g.outputs, column }, 1);
    if (s.rank == 1) y = Squeeze(y, EDDY_AXES(0));
    return eddy__onnx_put_as(b, 0, y, ONNX_FLOAT);
}

const onnx_operator eddy__onnx_grams[] = {
    { "TfIdfVectorizer", 9, tf_idf }, { NULL },
};
