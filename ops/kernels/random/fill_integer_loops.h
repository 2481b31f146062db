/* fill_integer_loops.h -- random integers of one type, T: a template of ops/kernels/for_types.h. */

void NAME(eddy__fill_integer)(eddy_stream s, int64_t first, int64_t n, int64_t low,
                              uint64_t range, void *y_)
{
    T       *y = y_;
    uint32_t w[2 * TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        int64_t count = eddy__min(n - at, TILE);
        T      *o = y + at;
        eddy__philox_words(s, (uint64_t)(first + at) / 2, (count + 1) / 2, w);
        for (int64_t i = 0; i < count; i++)
            o[i] = (T)((uint64_t)low + scale_64(w[2 * i], w[2 * i + 1], range));
    }
}
