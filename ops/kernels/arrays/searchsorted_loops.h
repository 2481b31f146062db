/* searchsorted_loops.h -- a search in a sorted row of one element type, T: a template of
 * ops/kernels/for_types.h. */

/* The number of elements of the row that are below v, or with `right` not above it. The steps of the
 * binary search depend only on n, so there are no mispredictions. */
static int64_t NAME(search)(const void *row_, int64_t n, const void *v_, bool right)
{
    const T *row = row_, v = *(const T *)v_;
    int64_t  at = 0;
    while (n > 0) {
        const int64_t half = n - n / 2;
        const T       m = row[at + half - 1];
        const int64_t past = (right & !(v < m)) | (!right & (m < v));
        at += half & -past;
        n /= 2;              /* one more than needed where n is even and v comes before m */
    }
    return at;
}
