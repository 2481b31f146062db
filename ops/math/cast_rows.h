/* cast_rows.h -- conversions from one element type to all: a template of ops/kernels/for_types.h,
 * for cast.c.
 *
 * An element x is `REAL` as a real number, and `WHOLE` with its imaginary part. Loops to floats, to
 * integers and to halves are CLONED, or PLAIN where they are rare or gain nothing from wider
 * vectors. */
#undef T         /* a name in TILE_UNARY */

#if EDDY_OF_KIND(EDDY_KIND, SUFFIX) == EDDY_KIND_FLOATING
#define REAL       x
#define WHOLE      x
#define FLOATS     CLONED
#define INTEGERS   CLONED
#define TO_INTEGER SATURATED_TO
#if EDDY_COLUMN(BITS, SUFFIX) <= 32
#define HALVES     CLONED
#else
#define HALVES     PLAIN
#endif
#elif EDDY_OF_KIND(EDDY_KIND, SUFFIX) == EDDY_KIND_INTEGER
#define REAL       x
#define WHOLE      x
#define FLOATS     CLONED
#define INTEGERS   CLONED
#define TO_INTEGER WRAPPED_TO
#define HALVES     PLAIN
#elif EDDY_OF_KIND(EDDY_KIND, SUFFIX) == EDDY_KIND_HALF
#define REAL       EDDY_NAME(eddy__f32_of, SUFFIX)(x)
#define WHOLE      REAL
#define FLOATS     CLONED
#define INTEGERS   PLAIN
#define TO_INTEGER SATURATED_TO
#define HALVES     PLAIN
#else
#define REAL       creal(x)
#define WHOLE      x
#define FLOATS     PLAIN
#define INTEGERS   PLAIN
#define TO_INTEGER SATURATED_TO
#define HALVES     PLAIN
#endif

FOR_FLOATS(CAST_TO, FLOATS, REAL)
FOR_INTEGERS(CAST_TO_INTEGER, INTEGERS, REAL)
FOR_HALVES(CAST_TO_HALF, HALVES, REAL)
FOR_BOOLS(CAST_TO, PLAIN, REAL != 0)
FOR_COMPLEX(CAST_TO, PLAIN, WHOLE)

static eddy_tile_fn NAME(cast)(eddy_dtype to)
{
    switch ((int)to) {
    FOR_FLOATS(CAST_CASE, FLOATS)
    FOR_INTEGERS(CAST_CASE, INTEGERS)
    FOR_HALVES(CAST_CASE, HALVES)
    FOR_BOOLS(CAST_CASE, PLAIN)
    FOR_COMPLEX(CAST_CASE, PLAIN)
    }
    return NULL;
}

#undef REAL
#undef WHOLE
#undef FLOATS
#undef INTEGERS
#undef TO_INTEGER
#undef HALVES
