/* scan_loops.h -- running sums and products, and linear recurrences, for one element type, T: a
 * template of ops/kernels/for_types.h. */

EDDY_INLINE TOTAL NAME(taken)(TOTAL a, TOTAL b, bool product) { return product ? a * b : a + b; }

/* y[j] = the accumulator after x[j], or with `exclusive` before it, of a few lanes: they do not wait
 * for one another. */
EDDY_INLINE void NAME(scan_few)(T *y, const T *x, int64_t n, const int lanes, int64_t step,
                                int64_t apart, bool exclusive, bool product,
                                const eddy_stop *stop)
{
    TOTAL acc[FEW];
    for (int c = 0; c < lanes; c++) acc[c] = product ? 1 : 0;
    for (int64_t j = 0; j < n && !eddy__stopped_at(stop, j); j++)
        for (int c = 0; c < lanes; c++) {
            const TOTAL   old = acc[c];
            const int64_t at = j * step + c * apart;
            acc[c] = NAME(taken)(old, (TOTAL)x[at], product);
            y[at] = (T)(exclusive ? old : acc[c]);
        }
}

/* The same of any lanes. */
EDDY_INLINE void NAME(scan)(T *y, const T *x, int64_t n, int64_t width, int64_t step, int64_t apart,
                            bool exclusive, bool product, const eddy_stop *stop)
{
    TOTAL acc[TILE];
    if (apart != 1 && width == FEW) {
        NAME(scan_few)(y, x, n, FEW, step, apart, exclusive, product, stop);
        return;
    }
    if (apart != 1) {
        for (int64_t c = 0; c < width; c++)
            NAME(scan_few)(y + c * apart, x + c * apart, n, 1, step, 0, exclusive, product, stop);
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
                      int64_t step, int64_t apart, bool exclusive, const eddy_stop *stop)
{
    (void)w;
    NAME(scan)(y, x, n, width, step, apart, exclusive, false, stop);
}

static void NAME(product)(void *y, const void *x, const void *w, int64_t n, int64_t width,
                          int64_t step, int64_t apart, bool exclusive, const eddy_stop *stop)
{
    (void)w;
    NAME(scan)(y, x, n, width, step, apart, exclusive, true, stop);
}

/* The first row has nothing to multiply its weight with. */
static void NAME(linear)(void *y_, const void *x_, const void *w_, int64_t n, int64_t width,
                         int64_t step, int64_t apart, bool exclusive, const eddy_stop *stop)
{
    TOTAL acc[TILE];
    T *y = y_;
    const T *x = x_, *w = w_;
    (void)exclusive;
    for (int64_t j = 0; j < n && !eddy__stopped_at(stop, j); j++)
        for (int64_t c = 0; c < width; c++) {
            const int64_t at = j * step + c * apart;
            acc[c] = j == 0 ? (TOTAL)x[at] : (TOTAL)x[at] + (TOTAL)w[at] * acc[c];
            y[at] = (T)acc[c];
        }
}

static const scans NAME(scans) = { NAME(sum), NAME(product), NAME(linear) };
