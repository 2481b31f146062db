/* scan_loops.h -- running sums and products, and linear recurrences, for one element type, T: a
 * template of ops/kernels/for_types.h. */

EDDY_INLINE TOTAL NAME(taken)(TOTAL a, TOTAL b, bool product) { return product ? a * b : a + b; }

/* y[j] = the accumulator after x[j], or with `exclusive` before it. */
EDDY_INLINE void NAME(scan)(T *y, const T *x, int64_t n, int64_t width, int64_t step,
                            bool exclusive, bool product, const eddy_stop *stop)
{
    TOTAL acc[TILE];
    if (width == 1) {
        TOTAL a = product ? 1 : 0;
        for (int64_t j = 0; j < n && !eddy__stopped_at(stop, j); j++) {
            const TOTAL old = a;
            a = NAME(taken)(a, (TOTAL)x[j * step], product);
            y[j * step] = (T)(exclusive ? old : a);
        }
        return;
    }
    for (int64_t c = 0; c < width; c++) acc[c] = product ? 1 : 0;
    for (int64_t j = 0; j < n && !eddy__stopped_at(stop, j); j++)
        for (int64_t c = 0; c < width; c++) {
            const TOTAL a = acc[c];
            acc[c] = NAME(taken)(a, (TOTAL)x[j * step + c], product);
            y[j * step + c] = (T)(exclusive ? a : acc[c]);
        }
}

static void NAME(sum)(void *y, const void *x, const void *w, int64_t n, int64_t width,
                      int64_t step, bool exclusive, const eddy_stop *stop)
{
    (void)w;
    NAME(scan)(y, x, n, width, step, exclusive, false, stop);
}

static void NAME(product)(void *y, const void *x, const void *w, int64_t n, int64_t width,
                          int64_t step, bool exclusive, const eddy_stop *stop)
{
    (void)w;
    NAME(scan)(y, x, n, width, step, exclusive, true, stop);
}

/* The first row has nothing to multiply its weight with. */
static void NAME(linear)(void *y_, const void *x_, const void *w_, int64_t n, int64_t width,
                         int64_t step, bool exclusive, const eddy_stop *stop)
{
    TOTAL acc[TILE];
    T *y = y_;
    const T *x = x_, *w = w_;
    (void)exclusive;
    for (int64_t j = 0; j < n && !eddy__stopped_at(stop, j); j++)
        for (int64_t c = 0; c < width; c++) {
            const int64_t at = j * step + c;
            acc[c] = j == 0 ? (TOTAL)x[at] : (TOTAL)x[at] + (TOTAL)w[at] * acc[c];
            y[at] = (T)acc[c];
        }
}

static const scans NAME(scans) = { NAME(sum), NAME(product), NAME(linear) };
