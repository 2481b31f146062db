/* lstm_gates_loops.h -- the elementwise part of one step of an LSTM and of its gradient, for one
 * element type: a template of ops/kernels/for_types.h. */

/* Requests what a block inside a sequence reads some rows later: rows lie so far apart that the
 * processor sees no pattern. x: three arrays of states. */
EDDY_INLINE void NAME(request)(const eddy_lstm_block *b, int64_t r, const void *gates,
                               const void *const x[3])
{
    enum { AHEAD = 8, LINE = 64 / sizeof(T) };
    const int64_t at = (r + AHEAD) * b->row;
    for (int64_t j = 0; j < b->columns; j += LINE) {
        for (int g = 0; g < 4; g++)
            __builtin_prefetch((const T *)gates + 4 * at + g * b->gate + j);
        for (int k = 0; k < 3; k++) __builtin_prefetch((const T *)x[k] + at + j);
    }
}

/* c = f c_before + i g, and h = o tanh c in a loop of its own, so that the processor works on more
 * elements at a time. */
EDDY_INLINE void NAME(forward_row)(const eddy_lstm_block *b, int64_t r, const int64_t columns,
                                   const bool two)
{
    const int64_t gate = b->gate, more_gate = b->other_gate, at = r * b->row;
    const T *z = (const T *)b->z + 4 * at, *before = (const T *)b->c_before + at;
    const T *more = two ? (const T *)b->z_more + r * b->other_row : NULL;
    T *act = (T *)b->act + 4 * at, *c = (T *)b->c + at, *h = (T *)b->h + at;
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < columns; j++) {
        T zi = z[j], zf = z[j + gate], zg = z[j + 2 * gate], zo = z[j + 3 * gate];
        if (two) {
            zi += more[j];
            zf += more[j + more_gate];
            zg += more[j + 2 * more_gate];
            zo += more[j + 3 * more_gate];
        }
        const T i = EDDY_REAL_MATH(sigmoid, zi);
        const T f = EDDY_REAL_MATH(sigmoid, zf);
        const T g = EDDY_REAL_MATH(tanh, zg);
        act[j] = i;
        act[j + gate] = f;
        act[j + 2 * gate] = g;
        act[j + 3 * gate] = EDDY_REAL_MATH(sigmoid, zo);
        c[j] = f * before[j] + i * g;
    }
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < columns; j++) h[j] = act[j + 3 * gate] * EDDY_REAL_MATH(tanh, c[j]);
}

static eddy_status NAME(forward)(int64_t n, void *y, const void *const *x, const void *block)
{
    const eddy_lstm_block b = *(const eddy_lstm_block *)block;
    (void)n; (void)y; (void)x;
    if (b.z_more && b.columns == EDDY_LSTM_COLUMNS)
        for (int64_t r = 0; r < b.rows; r++) {
            NAME(request)(&b, r, b.z, (const void *const[]){ b.c_before, b.c, b.h });
            NAME(forward_row)(&b, r, EDDY_LSTM_COLUMNS, true);
        }
    else if (b.z_more)
        for (int64_t r = 0; r < b.rows; r++) NAME(forward_row)(&b, r, b.columns, true);
    else
        for (int64_t r = 0; r < b.rows; r++) NAME(forward_row)(&b, r, b.columns, false);
    return EDDY_OK;
}

/* With D = dc + dh o (1 - tanh(c)^2): the gradients of i, f, g, o are D g, D c_before, D i
 * and dh tanh c; c_before gets D f.  `inside` a sequence, of the optional arguments exactly
 * dh_more, dc_more and dz_more are given, so that the loop can be vectorized. */
EDDY_INLINE void NAME(backward_row)(const eddy_lstm_block *b, int64_t r, const bool inside)
{
    const int64_t gate = b->gate, at = r * b->row;
    const T *act = (const T *)b->act + 4 * at, *before = (const T *)b->c_before + at;
    const T *state = (const T *)b->c + at, *dh = (const T *)b->dh + at;
    const T *dh_more = inside || b->dh_more ? (const T *)b->dh_more + r * b->other_h : NULL;
    const T *dc_more = inside || b->dc_more ? (const T *)b->dc_more + at : NULL;
    const T *dc = !inside && b->dc ? (const T *)b->dc + at : NULL;
    const T *dact = !inside && b->dact ? (const T *)b->dact + 4 * at : NULL;
    const bool twice = inside || b->dz_more;
    T *dz = (T *)b->dz + 4 * at, *dbefore = (T *)b->dc_before + at;
    T *copy = twice ? (T *)b->dz_more + r * b->other_row : dz;
    const int64_t copy_gate = twice ? b->other_gate : gate;
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < b->columns; j++) {
        const T i = act[j], f = act[j + gate], g = act[j + 2 * gate], o = act[j + 3 * gate];
        const T c = state[j], top = EDDY_REAL_MATH(tanh, c);
        const T dy = inside || dh_more ? dh[j] + dh_more[j] : dh[j];
        T sum = dy * o * (1 - top * top);
        if (!inside && dc) sum += dc[j];
        if (inside || dc_more) sum += dc_more[j];
        const T di = (sum * g + (dact ? dact[j] : 0)) * (i * (1 - i));
        const T df = (sum * before[j] + (dact ? dact[j + gate] : 0)) * (f * (1 - f));
        const T dg = (sum * i + (dact ? dact[j + 2 * gate] : 0)) * (1 - g * g);
        const T d_o = (dy * top + (dact ? dact[j + 3 * gate] : 0)) * (o * (1 - o));
        copy[j] = dz[j] = di;
        copy[j + copy_gate] = dz[j + gate] = df;
        copy[j + 2 * copy_gate] = dz[j + 2 * gate] = dg;
        copy[j + 3 * copy_gate] = dz[j + 3 * gate] = d_o;
        dbefore[j] = sum * f;
    }
}
static eddy_status NAME(backward)(int64_t n, void *y, const void *const *x, const void *block)
{
    const eddy_lstm_block b = *(const eddy_lstm_block *)block;
    const bool inside = b.dh_more && b.dc_more && b.dz_more && !b.dc && !b.dact;
    (void)n; (void)y; (void)x;
    if (inside)
        for (int64_t r = 0; r < b.rows; r++) {
            NAME(request)(&b, r, b.act, (const void *const[]){ b.c_before, b.c, b.dh });
            NAME(backward_row)(&b, r, true);
        }
    else
        for (int64_t r = 0; r < b.rows; r++) NAME(backward_row)(&b, r, false);
    return EDDY_OK;
}
