/* lapack.c -- BLAS and LAPACK for the four element types, one function for each routine.
 *
 * LAPACK reads a row-major matrix as its transpose. So the lower triangle is requested as the
 * upper one, the LU factors of the transpose are used as a product in the other order,
 * and the left and right singular vectors are swapped. */
#include "ops/kernels/libraries/lapack.h"
#include "ops/kernels/libraries/blas_threads.h"

#include <cblas.h>
#include <complex.h>
#include <math.h>
#include <string.h>

typedef float complex  c64;
typedef double complex c128;

/* The Fortran names; the length of each text argument follows all other arguments. */
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void cpotrf_(const char *uplo, const int *n, c64 *a, const int *lda, int *info, size_t);
void zpotrf_(const char *uplo, const int *n, c128 *a, const int *lda, int *info, size_t);
void sgetrf_(const int *m, const int *n, float *a, const int *lda, int *pivots, int *info);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
void cgetrf_(const int *m, const int *n, c64 *a, const int *lda, int *pivots, int *info);
void zgetrf_(const int *m, const int *n, c128 *a, const int *lda, int *pivots, int *info);
void slaswp_(const int *n, float *a, const int *lda, const int *first, const int *last,
             const int *pivots, const int *step);
void dlaswp_(const int *n, double *a, const int *lda, const int *first, const int *last,
             const int *pivots, const int *step);
void claswp_(const int *n, c64 *a, const int *lda, const int *first, const int *last,
             const int *pivots, const int *step);
void zlaswp_(const int *n, c128 *a, const int *lda, const int *first, const int *last,
             const int *pivots, const int *step);
void strtri_(const char *uplo, const char *diag, const int *n, float *a, const int *lda, int *info,
             size_t, size_t);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t, size_t);
void ctrtri_(const char *uplo, const char *diag, const int *n, c64 *a, const int *lda, int *info,
             size_t, size_t);
void ztrtri_(const char *uplo, const char *diag, const int *n, c128 *a, const int *lda, int *info,
             size_t, size_t);
void sgetri_(const int *n, float *a, const int *lda, const int *pivots, float *work,
             const int *lwork, int *info);
void dgetri_(const int *n, double *a, const int *lda, const int *pivots, double *work,
             const int *lwork, int *info);
void cgetri_(const int *n, c64 *a, const int *lda, const int *pivots, c64 *work,
             const int *lwork, int *info);
void zgetri_(const int *n, c128 *a, const int *lda, const int *pivots, c128 *work,
             const int *lwork, int *info);
void sgesdd_(const char *job, const int *m, const int *n, float *a, const int *lda, float *s,
             float *u, const int *ldu, float *vt, const int *ldvt, float *work, const int *lwork,
             int *iwork, int *info, size_t);
void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work,
             const int *lwork, int *iwork, int *info, size_t);
void ssyevd_(const char *job, const char *uplo, const int *n, float *a, const int *lda, float *w,
             float *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t,
             size_t);
void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t,
             size_t);
void cheevd_(const char *job, const char *uplo, const int *n, c64 *a, const int *lda, float *w,
             c64 *work, const int *lwork, float *rwork, const int *lrwork, int *iwork,
             const int *liwork, int *info, size_t, size_t);
void zheevd_(const char *job, const char *uplo, const int *n, c128 *a, const int *lda, double *w,
             c128 *work, const int *lwork, double *rwork, const int *lrwork, int *iwork,
             const int *liwork, int *info, size_t, size_t);

void sgeev_(const char *left, const char *right, const int *n, float *a, const int *lda, float *wr,
            float *wi, float *vl, const int *ldvl, float *vr, const int *ldvr, float *work,
            const int *lwork, int *info, size_t, size_t);
void dgeev_(const char *left, const char *right, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t, size_t);
void cgeev_(const char *left, const char *right, const int *n, c64 *a, const int *lda, c64 *w,
            c64 *vl, const int *ldvl, c64 *vr, const int *ldvr, c64 *work, const int *lwork,
            float *rwork, int *info, size_t, size_t);
void zgeev_(const char *left, const char *right, const int *n, c128 *a, const int *lda, c128 *w,
            c128 *vl, const int *ldvl, c128 *vr, const int *ldvr, c128 *work, const int *lwork,
            double *rwork, int *info, size_t, size_t);

void sgtsv_(const int *n, const int *k, float *below, float *diagonal, float *above, float *b,
            const int *ldb, int *info);
void dgtsv_(const int *n, const int *k, double *below, double *diagonal, double *above, double *b,
            const int *ldb, int *info);
void cgtsv_(const int *n, const int *k, c64 *below, c64 *diagonal, c64 *above, c64 *b,
            const int *ldb, int *info);
void zgtsv_(const int *n, const int *k, c128 *below, c128 *diagonal, c128 *above, c128 *b,
            const int *ldb, int *info);
void zgees_(const char *vectors, const char *sort, void *select, const int *n, c128 *a,
            const int *lda, int *sorted, c128 *w, c128 *vs, const int *ldvs, c128 *work,
            const int *lwork, double *rwork, int *bwork, int *info, size_t, size_t);
void ztrsyl_(const char *turn_a, const char *turn_b, const int *sign, const int *m, const int *n,
             const c128 *a, const int *lda, const c128 *b, const int *ldb, c128 *c, const int *ldc,
             double *scale, int *info, size_t, size_t);

/* The smallest leading dimension that LAPACK accepts, which is 1 for an empty matrix. */
static int leading(int64_t n) { return n > 1 ? (int)n : 1; }

/* ------------------------------------------------------------- triangles -- */

/* OpenBLAS 0.3.21 for i386 leaves two values on the stack of the x87 after cpotrf of one element;
 * when that stack is full, functions that return a double return NaN. */
static int root_of_one(c64 *a)
{
    const float square = crealf(*a);
    if (square <= 0) return 1;
    *a = sqrtf(square);
    return 0;
}

/* The factor of a matrix with NaN has NaN from there on, as in TensorFlow and OpenBLAS; the
 * reference LAPACK stops at that pivot. Returns 0 then, otherwise `failed`. */
static int after_nan(eddy_dtype d, int64_t n, void *a, int64_t ld, int failed)
{
    const bool    single = eddy_dtype_real(d) == EDDY_FLOAT32;
    const int64_t parts = eddy_dtype_is_complex(d) ? 2 : 1, first = failed - 1;
    float        *singles = a;
    double       *doubles = a;
    if (failed <= 0) return failed;
    const int64_t pivot = first * (ld + 1) * parts;
    if (!isnan(single ? (double)singles[pivot] : doubles[pivot])) return failed;
    for (int64_t j = first; j < n; j++)
        for (int64_t i = (j * ld + first) * parts; i < (j * ld + j + 1) * parts; i++)
            if (single) singles[i] = NAN;
            else doubles[i] = (double)NAN;
    return 0;
}

int eddy__lapack_cholesky(eddy_dtype d, int64_t n, void *a, int64_t ld)
{
    const int size = (int)n, lda = leading(ld);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32) spotrf_("U", &size, a, &lda, &info, 1);
    else if (d == EDDY_FLOAT64) dpotrf_("U", &size, a, &lda, &info, 1);
    else if (d == EDDY_COMPLEX64 && n == 1) info = root_of_one(a);
    else if (d == EDDY_COMPLEX64) cpotrf_("U", &size, a, &lda, &info, 1);
    else zpotrf_("U", &size, a, &lda, &info, 1);
    eddy__blas_leave();
    return after_nan(d, n, a, ld, info);
}

/* -------------------------------------------------------------------- LU -- */

/* The transpose is P L U, so that a is U'' L'' P'' with '' the transpose. */
int eddy__lapack_lu(eddy_dtype d, int64_t m, int64_t n, void *a, int64_t ld, int32_t *pivots)
{
    const int rows = (int)m, columns = (int)n, lda = leading(ld);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32) sgetrf_(&rows, &columns, a, &lda, pivots, &info);
    else if (d == EDDY_FLOAT64) dgetrf_(&rows, &columns, a, &lda, pivots, &info);
    else if (d == EDDY_COMPLEX64) cgetrf_(&rows, &columns, a, &lda, pivots, &info);
    else zgetrf_(&rows, &columns, a, &lda, pivots, &info);
    eddy__blas_leave();
    return info;
}

void eddy__lapack_exchange(eddy_dtype d, int64_t n, void *a, int64_t ld, int64_t count,
                           const int32_t *pivots)
{
    const int columns = (int)n, lda = leading(ld), first = 1, last = (int)count, step = 1;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32) slaswp_(&columns, a, &lda, &first, &last, pivots, &step);
    else if (d == EDDY_FLOAT64) dlaswp_(&columns, a, &lda, &first, &last, pivots, &step);
    else if (d == EDDY_COMPLEX64) claswp_(&columns, a, &lda, &first, &last, pivots, &step);
    else zlaswp_(&columns, a, &lda, &first, &last, pivots, &step);
    eddy__blas_leave();
}

void eddy__lapack_triangle_inverse(eddy_dtype d, int64_t n, void *a, int64_t ld)
{
    const int size = (int)n, lda = leading(ld);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32) strtri_("U", "N", &size, a, &lda, &info, 1, 1);
    else if (d == EDDY_FLOAT64) dtrtri_("U", "N", &size, a, &lda, &info, 1, 1);
    else if (d == EDDY_COMPLEX64) ctrtri_("U", "N", &size, a, &lda, &info, 1, 1);
    else ztrtri_("U", "N", &size, a, &lda, &info, 1, 1);
    eddy__blas_leave();
}

static void lu_inverse(eddy_dtype d, int64_t n, void *lu, const int32_t *pivots, void *work,
                       int lwork)
{
    const int size = (int)n, lda = leading(n);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32) sgetri_(&size, lu, &lda, pivots, work, &lwork, &info);
    else if (d == EDDY_FLOAT64) dgetri_(&size, lu, &lda, pivots, work, &lwork, &info);
    else if (d == EDDY_COMPLEX64) cgetri_(&size, lu, &lda, pivots, work, &lwork, &info);
    else zgetri_(&size, lu, &lda, pivots, work, &lwork, &info);
    eddy__blas_leave();
}

/* The size that a query of LAPACK stored in the first element of its working memory; in float32 it
 * may have been rounded down. */
static int64_t asked(eddy_dtype d, const c128 *work)
{
    const bool   narrow = d == EDDY_FLOAT32 || d == EDDY_COMPLEX64;
    const double n = narrow ? (double)*(const float *)(const void *)work
                            : *(const double *)(const void *)work;
    const double more = narrow ? n * 1e-6 : 0;
    return (int64_t)(n + more) + 1;
}

int64_t eddy__lapack_inverse_work(eddy_dtype d, int64_t n)
{
    c128    work[1] = { 1 };
    int32_t none = 0;
    lu_inverse(d, n, work, &none, work, -1);
    return asked(d, work);
}

void eddy__lapack_lu_inverse(eddy_dtype d, int64_t n, void *lu, const int32_t *pivots, void *work,
                             int64_t elements)
{
    if (n > 0) lu_inverse(d, n, lu, pivots, work, (int)elements);
}

/* ------------------------------------------------------- singular values -- */

/* The transpose [n,m] is V diag(s) U', whose V' is read back as v transposed and U as u'. */
static int gesdd(const eddy_svd *p, void *a, void *s, void *u, void *vt, void *work, int lwork,
                 int *iwork)
{
    const int64_t least = p->m < p->n ? p->m : p->n;
    const char *job = !p->vectors ? "N" : p->full ? "A" : "S";
    const int rows = (int)p->n, columns = (int)p->m, lda = leading(p->n);
    const int ldu = leading(p->n), ldvt = leading(p->full ? p->m : least);
    int info = 0;
    eddy__blas_enter();
    if (p->dtype == EDDY_FLOAT32)
        sgesdd_(job, &rows, &columns, a, &lda, s, vt, &ldu, u, &ldvt, work, &lwork, iwork, &info,
                1);
    else
        dgesdd_(job, &rows, &columns, a, &lda, s, vt, &ldu, u, &ldvt, work, &lwork, iwork, &info,
                1);
    eddy__blas_leave();
    return info;
}

/* Bytes of the integers, which come first, rounded up to the alignment of any element. */
static int64_t svd_integers(const eddy_svd *p)
{
    const int64_t least = p->m < p->n ? p->m : p->n;
    return (8 * least * (int64_t)sizeof(int) + 63) / 64 * 64;
}

int64_t eddy__lapack_svd_work(const eddy_svd *p)
{
    c128 work[1] = { 1 };
    int  iwork[8];
    gesdd(p, work, work, work, work, work, -1, iwork);
    return svd_integers(p) + asked(p->dtype, work) * (int64_t)eddy_dtype_size(p->dtype);
}

bool eddy__lapack_svd(const eddy_svd *p, void *a, void *s, void *u, void *vt, void *work,
                      int64_t bytes)
{
    const int64_t left = bytes - svd_integers(p);
    if (p->m == 0 || p->n == 0) return true;
    return gesdd(p, a, s, u, vt, (char *)work + svd_integers(p),
                 (int)(left / (int64_t)eddy_dtype_size(p->dtype)), work) == 0;
}

/* ----------------------------------------------------------- eigenvalues -- */

/* The numbers that LAPACK needs: integers, elements, and for complex types also real numbers. */
typedef struct eigh_sizes {
    int integers, elements, reals;
} eigh_sizes;

static int eigh(eddy_dtype d, bool vectors, int64_t n, void *a, void *w, void *work, void *rwork,
                int *iwork, eigh_sizes has)
{
    const char *job = vectors ? "V" : "N";
    const int size = (int)n, lda = leading(n);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32)
        ssyevd_(job, "U", &size, a, &lda, w, work, &has.elements, iwork, &has.integers, &info, 1,
                1);
    else if (d == EDDY_FLOAT64)
        dsyevd_(job, "U", &size, a, &lda, w, work, &has.elements, iwork, &has.integers, &info, 1,
                1);
    else if (d == EDDY_COMPLEX64)
        cheevd_(job, "U", &size, a, &lda, w, work, &has.elements, rwork, &has.reals, iwork,
                &has.integers, &info, 1, 1);
    else
        zheevd_(job, "U", &size, a, &lda, w, work, &has.elements, rwork, &has.reals, iwork,
                &has.integers, &info, 1, 1);
    eddy__blas_leave();
    return info;
}

static eigh_sizes eigh_needs(eddy_dtype d, bool vectors, int64_t n)
{
    c128 work[1] = { 1 }, rwork[1] = { 1 };
    int  iwork[1] = { 1 };
    eigh(d, vectors, n, work, work, work, rwork, iwork, (eigh_sizes){ -1, -1, -1 });
    return (eigh_sizes){ iwork[0], (int)asked(d, work), (int)asked(d, rwork) };
}

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

int64_t eddy__lapack_eigh_work(eddy_dtype d, bool vectors, int64_t n)
{
    const eigh_sizes needs = eigh_needs(d, vectors, n);
    return rounded(needs.integers * (int64_t)sizeof(int)) +
           rounded(needs.elements * (int64_t)eddy_dtype_size(d)) +
           rounded(needs.reals * (int64_t)eddy_dtype_size(eddy_dtype_real(d)));
}

bool eddy__lapack_eigh(eddy_dtype d, bool vectors, int64_t n, void *a, void *values, void *work)
{
    const eigh_sizes needs = eigh_needs(d, vectors, n);
    char *elements = (char *)work + rounded(needs.integers * (int64_t)sizeof(int));
    char *reals = elements + rounded(needs.elements * (int64_t)eddy_dtype_size(d));
    return n == 0 || eigh(d, vectors, n, a, values, elements, reals, work, needs) == 0;
}

/* The eigenvalues of any complex matrix.  The right eigenvectors of x are the conjugates of the
 * left ones of its transpose, which is the matrix that LAPACK reads. */
static int eig(eddy_dtype d, int64_t n, void *a, void *w, void *v, void *work, int elements,
               void *rwork)
{
    const char *job = v ? "V" : "N";
    const int size = (int)n, lda = leading(n);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_COMPLEX64)
        cgeev_(job, "N", &size, a, &lda, w, v, &lda, NULL, &lda, work, &elements, rwork, &info, 1,
               1);
    else
        zgeev_(job, "N", &size, a, &lda, w, v, &lda, NULL, &lda, work, &elements, rwork, &info, 1,
               1);
    eddy__blas_leave();
    return info;
}

/* The same for a real matrix, in a third of the time: w as two vectors of real numbers. */
static int real_eig(eddy_dtype d, int64_t n, void *a, void *wr, void *wi, void *v, void *work,
                    int elements)
{
    const char *job = v ? "V" : "N";
    const int size = (int)n, lda = leading(n);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_COMPLEX64)
        sgeev_(job, "N", &size, a, &lda, wr, wi, v, &lda, NULL, &lda, work, &elements, &info, 1, 1);
    else
        dgeev_(job, "N", &size, a, &lda, wr, wi, v, &lda, NULL, &lda, work, &elements, &info, 1, 1);
    eddy__blas_leave();
    return info;
}

static int eig_needs(eddy_dtype d, bool vectors, int64_t n)
{
    c128 work[1] = { 1 };
    void *v = vectors ? work : NULL;
    eig(d, n, work, work, v, work, -1, work);
    const int needs = (int)asked(d, work);
    real_eig(d, n, work, work, work, v, work, -1);
    const int reals = (int)asked(d, work);
    return needs > (reals + 1) / 2 ? needs : (reals + 1) / 2;
}

int64_t eddy__lapack_eig_work(eddy_dtype d, bool vectors, int64_t n)
{
    return rounded(n * (int64_t)eddy_dtype_size(d)) +
           rounded(eig_needs(d, vectors, n) * (int64_t)eddy_dtype_size(d));
}

/* Real number i of an array of complex type d. */
static double real_number(eddy_dtype d, const void *x, int64_t i)
{
    return d == EDDY_COMPLEX64 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void put_real(eddy_dtype d, void *x, int64_t i, double value)
{
    if (d == EDDY_COMPLEX64) ((float *)x)[i] = (float)value;
    else ((double *)x)[i] = value;
}

static void put_complex(eddy_dtype d, void *x, int64_t i, double re, double im)
{
    put_real(d, x, 2 * i, re);
    put_real(d, x, 2 * i + 1, im);
}

/* Eigenvalues, and eigenvectors from their real and imaginary parts, which are rows j and j + 1 of
 * `parts` for a pair of conjugates, and a row for a real one. */
static void join_pairs(eddy_dtype d, int64_t n, const void *wr, const void *wi, const void *parts,
                       void *values, void *v)
{
    for (int64_t j = 0; j < n; j++) {
        const double im = real_number(d, wi, j);
        put_complex(d, values, j, real_number(d, wr, j), im);
        const int64_t first = im < 0 ? j - 1 : j;
        for (int64_t i = 0; v && i < n; i++) {
            const double other = im == 0 ? 0 : real_number(d, parts, (first + 1) * n + i);
            put_complex(d, v, j * n + i, real_number(d, parts, first * n + i),
                        im < 0 ? -other : other);
        }
    }
}

/* Real parts are gathered at the front of a, and the parts of eigenvectors behind them. */
static int eig_of_reals(eddy_dtype d, int64_t n, void *a, void *values, void *v, void *work,
                        void *elements, int count)
{
    char *wi = (char *)work + n * (int64_t)eddy_dtype_size(d) / 2;
    char *parts = (char *)a + n * n * (int64_t)eddy_dtype_size(d) / 2;
    for (int64_t i = 0; i < n * n; i++) put_real(d, a, i, real_number(d, a, 2 * i));
    const int info = real_eig(d, n, a, work, wi, v ? parts : NULL, elements, count);
    if (info == 0) join_pairs(d, n, work, wi, parts, values, v);
    return info;
}

bool eddy__lapack_eig(eddy_dtype d, int64_t n, void *a, void *values, void *v, void *work)
{
    char     *elements = (char *)work + rounded(n * (int64_t)eddy_dtype_size(d));
    const int count = eig_needs(d, v != NULL, n);
    bool      reals = true;
    for (int64_t i = 0; i < n * n && reals; i++) reals = real_number(d, a, 2 * i + 1) == 0;
    if (reals) return n == 0 || eig_of_reals(d, n, a, values, v, work, elements, 2 * count) == 0;
    return eig(d, n, a, values, v, elements, count, work) == 0;
}

/* ------------------------------------------------------- three diagonals -- */

bool eddy__lapack_tridiagonal(eddy_dtype d, int64_t n, int64_t k, void *below, void *diagonal,
                              void *above, void *b)
{
    const int size = (int)n, columns = (int)k, ldb = leading(n);
    int info = 0;
    eddy__blas_enter();
    if (d == EDDY_FLOAT32) sgtsv_(&size, &columns, below, diagonal, above, b, &ldb, &info);
    else if (d == EDDY_FLOAT64) dgtsv_(&size, &columns, below, diagonal, above, b, &ldb, &info);
    else if (d == EDDY_COMPLEX64) cgtsv_(&size, &columns, below, diagonal, above, b, &ldb, &info);
    else zgtsv_(&size, &columns, below, diagonal, above, b, &ldb, &info);
    eddy__blas_leave();
    return info == 0;
}

/* ------------------------------------------------------------ Schur forms -- */

static int schur(int64_t n, c128 *a, c128 *w, c128 *z, c128 *work, int elements, double *rwork)
{
    const int size = (int)n, lda = leading(n);
    int info = 0, sorted = 0, unused = 0;
    eddy__blas_enter();
    zgees_("V", "N", NULL, &size, a, &lda, &sorted, w, z, &lda, work, &elements, rwork, &unused,
           &info, 1, 1);
    eddy__blas_leave();
    return info;
}

static int schur_needs(int64_t n)
{
    c128   work[1] = { 1 };
    double rwork[1];
    schur(n, work, work, work, work, -1, rwork);
    return (int)creal(work[0]);
}

/* Bytes for the eigenvalues, and for working memory of real and of complex numbers. */
int64_t eddy__lapack_schur_work(int64_t n)
{
    return rounded(n * (int64_t)sizeof(c128)) + rounded(n * (int64_t)sizeof(double)) +
           rounded((n > 0 ? schur_needs(n) : 0) * (int64_t)sizeof(c128));
}

bool eddy__lapack_schur(int64_t n, void *a, void *z, void *work)
{
    char *reals = (char *)work + rounded(n * (int64_t)sizeof(c128));
    char *elements = reals + rounded(n * (int64_t)sizeof(double));
    return n == 0 || schur(n, a, work, z, (c128 *)(void *)elements, schur_needs(n),
                           (double *)(void *)reals) == 0;
}

void eddy__lapack_between(int64_t m, int64_t n, bool adjoint, const void *l, void *c, const void *r,
                          void *room)
{
    static const double one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    const CBLAS_TRANSPOSE left = adjoint ? CblasConjTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE right = adjoint ? CblasNoTrans : CblasConjTrans;
    const int rows = (int)m, columns = (int)n, ldm = leading(m), ldn = leading(n);
    if (m == 0 || n == 0) return;
    eddy__blas_enter();
    cblas_zgemm(CblasColMajor, left, CblasNoTrans, rows, columns, rows, one, l, ldm, c, ldm, zero,
                room, ldm);
    cblas_zgemm(CblasColMajor, CblasNoTrans, right, rows, columns, columns, one, room, ldm, r, ldn,
                zero, c, ldm);
    eddy__blas_leave();
}

bool eddy__lapack_triangles_solve(int64_t m, int64_t n, const void *a, const void *b, void *c)
{
    const int rows = (int)m, columns = (int)n, lda = leading(m), ldb = leading(n), plus = 1;
    double scale = 1, *x = c;
    int    info = 0;
    eddy__blas_enter();
    ztrsyl_("N", "N", &plus, &rows, &columns, a, &lda, b, &ldb, c, &lda, &scale, &info, 1, 1);
    eddy__blas_leave();
    for (int64_t i = 0; scale != 1 && i < 2 * m * n; i++) x[i] /= scale;
    return info == 0 && scale > 0;
}
