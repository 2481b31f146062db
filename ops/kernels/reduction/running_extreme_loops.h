/* running_extreme_loops.h -- running maxima and minima and their indices, for one element type,
 * T: a template of ops/kernels/for_types.h. */

/* A later element replaces an equal one; NaN replaces all. */
EDDY_INLINE void NAME(extreme_step)(T v, int32_t here, bool largest, T *best, int32_t *place)
{
    bool takes = largest ? v >= *best : v <= *best;
#ifdef NUMBER
    takes = takes || v != v;
#endif
    *best = takes ? v : *best;
    *place = takes ? here : *place;
}

EDDY_INLINE void NAME(extreme)(const walk *w, int64_t at, int64_t width, int64_t step,
                               bool largest)
{
    const eddy_scan_attrs *a = w->k->attrs;
    const T *x = (const T *)w->k->in[0]->data + at;
    T       *y = (T *)w->k->out[0]->data + at, best[TILE], one = x[0];
    int32_t *places = (int32_t *)w->k->out[1]->data + at, place[TILE], only = 0;
    const int64_t n = w->lanes.n;
    int32_t here = (int32_t)(a->reverse ? n - 1 : 0);
    const int32_t on = a->reverse ? -1 : 1;
    for (int64_t j = 0; j < n && width == 1; j++, here += on) {
        NAME(extreme_step)(x[j * step], here, largest, &one, &only);
        y[j * step] = one;
        places[j * step] = only;
    }
    if (width == 1) return;
    for (int64_t c = 0; c < width; c++) best[c] = x[c], place[c] = 0;
    for (int64_t j = 0; j < n; j++, x += step, y += step, places += step, here += on)
        for (int64_t c = 0; c < width; c++) {
            NAME(extreme_step)(x[c], here, largest, &best[c], &place[c]);
            y[c] = best[c];
            places[c] = place[c];
        }
}

static void NAME(largest)(const walk *w, int64_t at, int64_t width, int64_t step)
{
    NAME(extreme)(w, at, width, step, true);
}

static void NAME(smallest)(const walk *w, int64_t at, int64_t width, int64_t step)
{
    NAME(extreme)(w, at, width, step, false);
}
