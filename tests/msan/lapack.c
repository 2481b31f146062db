/* lapack.c -- declares what the library's callers of LAPACK and FFTW read and write
 * (tests/msan/memory.h). The linker puts __wrap_NAME in the place of NAME, except within the file
 * that defines it. */
#include "graph/base/min_max.h"
#include "ops/kernels/libraries/fftw.h"
#include "ops/kernels/libraries/lapack.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "tests/msan/memory.h"

/* Nobody calls these names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The upper triangle of a matrix in column-major order. */
static lines upper(const void *a, int64_t n, int64_t ld, size_t size)
{
    return (lines){ a, n, n, ld, size, TO_DIAGONAL };
}

int __real_eddy__lapack_cholesky(eddy_dtype d, int64_t n, void *a, int64_t ld);
int __wrap_eddy__lapack_cholesky(eddy_dtype d, int64_t n, void *a, int64_t ld)
{
    reads(upper(a, n, ld, eddy_dtype_size(d)));
    return __real_eddy__lapack_cholesky(d, n, a, ld);
}

int __real_eddy__lapack_lu(eddy_dtype d, int64_t m, int64_t n, void *a, int64_t ld,
                           int32_t *pivots);
int __wrap_eddy__lapack_lu(eddy_dtype d, int64_t m, int64_t n, void *a, int64_t ld,
                           int32_t *pivots)
{
    reads((lines){ a, n, m, ld, eddy_dtype_size(d), WHOLE });
    const int failed = __real_eddy__lapack_lu(d, m, n, a, ld, pivots);
    writes(vector_of(pivots, eddy__min(m, n), sizeof *pivots));
    return failed;
}

void __real_eddy__lapack_exchange(eddy_dtype d, int64_t n, void *a, int64_t ld, int64_t count,
                                  const int32_t *pivots);
void __wrap_eddy__lapack_exchange(eddy_dtype d, int64_t n, void *a, int64_t ld, int64_t count,
                                  const int32_t *pivots)
{
    int64_t rows = count;
    for (int64_t i = 0; i < count; i++) rows = eddy__max(rows, pivots[i]);
    reads((lines){ a, n, rows, ld, eddy_dtype_size(d), WHOLE });
    __real_eddy__lapack_exchange(d, n, a, ld, count, pivots);
}

void __real_eddy__lapack_triangle_inverse(eddy_dtype d, int64_t n, void *a, int64_t ld);
void __wrap_eddy__lapack_triangle_inverse(eddy_dtype d, int64_t n, void *a, int64_t ld)
{
    reads(upper(a, n, ld, eddy_dtype_size(d)));
    __real_eddy__lapack_triangle_inverse(d, n, a, ld);
}

void __real_eddy__lapack_lu_inverse(eddy_dtype d, int64_t n, void *lu, const int32_t *pivots,
                                    void *work, int64_t room);
void __wrap_eddy__lapack_lu_inverse(eddy_dtype d, int64_t n, void *lu, const int32_t *pivots,
                                    void *work, int64_t room)
{
    reads(matrix_of(lu, n, n, eddy_dtype_size(d)));
    reads(vector_of(pivots, n, sizeof *pivots));
    __real_eddy__lapack_lu_inverse(d, n, lu, pivots, work, room);
}

bool __real_eddy__lapack_tridiagonal(eddy_dtype d, int64_t n, int64_t k, void *below,
                                     void *diagonal, void *above, void *b);
bool __wrap_eddy__lapack_tridiagonal(eddy_dtype d, int64_t n, int64_t k, void *below,
                                     void *diagonal, void *above, void *b)
{
    const size_t size = eddy_dtype_size(d);
    reads(vector_of(below, n - 1, size));
    reads(vector_of(diagonal, n, size));
    reads(vector_of(above, n - 1, size));
    reads(matrix_of(b, k, n, size));
    return __real_eddy__lapack_tridiagonal(d, n, k, below, diagonal, above, b);
}

bool __real_eddy__lapack_svd(const eddy_svd *p, void *a, void *s, void *u, void *vt, void *work,
                             int64_t bytes);
bool __wrap_eddy__lapack_svd(const eddy_svd *p, void *a, void *s, void *u, void *vt, void *work,
                             int64_t bytes)
{
    const size_t  size = eddy_dtype_size(p->dtype);
    const int64_t least = eddy__min(p->m, p->n);
    reads(matrix_of(a, p->m, p->n, size));
    const bool good = __real_eddy__lapack_svd(p, a, s, u, vt, work, bytes);
    writes(vector_of(s, least, size));
    if (!p->vectors || least == 0) return good;
    writes(matrix_of(u, p->m, p->full ? p->m : least, size));
    writes(matrix_of(vt, p->full ? p->n : least, p->n, size));
    return good;
}

bool __real_eddy__lapack_eigh(eddy_dtype d, bool vectors, int64_t n, void *a, void *values,
                              void *work);
bool __wrap_eddy__lapack_eigh(eddy_dtype d, bool vectors, int64_t n, void *a, void *values,
                              void *work)
{
    const size_t size = eddy_dtype_size(d);
    reads(upper(a, n, n, size));
    const bool good = __real_eddy__lapack_eigh(d, vectors, n, a, values, work);
    writes(vector_of(values, n, eddy_dtype_size(eddy_dtype_real(d))));
    if (vectors) writes(matrix_of(a, n, n, size));
    return good;
}

bool __real_eddy__lapack_eig(eddy_dtype d, int64_t n, void *a, void *values, void *v, void *work);
bool __wrap_eddy__lapack_eig(eddy_dtype d, int64_t n, void *a, void *values, void *v, void *work)
{
    const size_t size = eddy_dtype_size(d);
    reads(matrix_of(a, n, n, size));
    writes(vector_of(work, n, size));       /* the eigenvalues' parts, if a is real */
    const bool good = __real_eddy__lapack_eig(d, n, a, values, v, work);
    writes(vector_of(values, n, size));
    if (v) writes(matrix_of(v, n, n, size));
    return good;
}

bool __real_eddy__lapack_schur(int64_t n, void *a, void *z, void *work);
bool __wrap_eddy__lapack_schur(int64_t n, void *a, void *z, void *work)
{
    reads(matrix_of(a, n, n, 16));
    const bool good = __real_eddy__lapack_schur(n, a, z, work);
    writes(matrix_of(z, n, n, 16));
    return good;
}

bool __real_eddy__lapack_triangles_solve(int64_t m, int64_t n, const void *a, const void *b,
                                         void *c);
bool __wrap_eddy__lapack_triangles_solve(int64_t m, int64_t n, const void *a, const void *b,
                                         void *c)
{
    reads(upper(a, m, m, 16));
    reads(upper(b, n, n, 16));
    reads(matrix_of(c, n, m, 16));
    return __real_eddy__lapack_triangles_solve(m, n, a, b, c);
}

void __real_eddy__blocks_qr(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t n, void *a,
                            void *tau, void *work);
void __wrap_eddy__blocks_qr(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t n, void *a,
                            void *tau, void *work)
{
    reads(matrix_of(a, m, n, eddy_dtype_size(d)));
    __real_eddy__blocks_qr(k, d, m, n, a, tau, work);
    writes(vector_of(tau, eddy__min(m, n), eddy_dtype_size(d)));
}

void __real_eddy__blocks_qr_columns(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t c,
                                    int64_t count, void *q, const void *tau, void *work);
void __wrap_eddy__blocks_qr_columns(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t c,
                                    int64_t count, void *q, const void *tau, void *work)
{
    reads((lines){ q, m, count, c, eddy_dtype_size(d), WHOLE });
    reads(vector_of(tau, count, eddy_dtype_size(d)));
    __real_eddy__blocks_qr_columns(k, d, m, c, count, q, tau, work);
}

bool __real_eddy__fft_run(const eddy_fft_job *f, void *x, void *y);
bool __wrap_eddy__fft_run(const eddy_fft_job *f, void *x, void *y)
{
    const size_t  size = f->single ? sizeof(float) : sizeof(double);
    const int64_t last = f->n[f->rank - 1];
    int64_t       all = f->many;
    for (int i = 0; i < f->rank; i++) all *= f->n[i];
    const lines real = vector_of(x, all, size);
    const lines half = vector_of(x, all / last * (last / 2 + 1), 2 * size);
    const lines whole = vector_of(x, all, 2 * size);
    reads(f->kind == EDDY_FFT_OF_REAL ? real : f->kind == EDDY_FFT_TO_REAL ? half : whole);
    const bool good = __real_eddy__fft_run(f, x, y);
    lines to = f->kind == EDDY_FFT_OF_REAL ? half : f->kind == EDDY_FFT_TO_REAL ? real : whole;
    to.at = y;
    writes(to);
    return good;
}
