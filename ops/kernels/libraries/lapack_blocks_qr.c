/* lapack_blocks_qr.c -- QR decomposition by blocks of reflectors, as in LAPACK's gelqf and orglq.
 * The rows to which a block is applied are divided. */
#include "ops/kernels/libraries/lapack_blocks.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/libraries/blas_threads.h"

#include <string.h>

void sgelqf_(const int *m, const int *n, float *a, const int *lda, float *tau, float *work,
             const int *lwork, int *info);
void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void sorglq_(const int *m, const int *n, const int *k, float *a, const int *lda, const float *tau,
             float *work, const int *lwork, int *info);
void dorglq_(const int *m, const int *n, const int *k, double *a, const int *lda,
             const double *tau, double *work, const int *lwork, int *info);
void slarft_(const char *order, const char *stored, const int *n, const int *k, const float *v,
             const int *ldv, const float *tau, float *t, const int *ldt, size_t, size_t);
void dlarft_(const char *order, const char *stored, const int *n, const int *k, const double *v,
             const int *ldv, const double *tau, double *t, const int *ldt, size_t, size_t);
void slarfb_(const char *side, const char *turn, const char *order, const char *stored,
             const int *m, const int *n, const int *k, const float *v, const int *ldv,
             const float *t, const int *ldt, float *c, const int *ldc, float *work,
             const int *ldwork, size_t, size_t, size_t, size_t);
void dlarfb_(const char *side, const char *turn, const char *order, const char *stored,
             const int *m, const int *n, const int *k, const double *v, const int *ldv,
             const double *t, const int *ldt, double *c, const int *ldc, double *work,
             const int *ldwork, size_t, size_t, size_t, size_t);

enum { BLOCK = 32, PIECE = 3 << 16 };   /* reflectors of a block; elements of a piece */

/* The rows of a piece of a matrix with these columns. */
static int64_t piece_rows(int64_t columns)
{
    enum { LEAST = 16, MOST = 256 };
    return eddy__max(LEAST, eddy__min(MOST, PIECE / columns));
}

/* A block of reflectors, which begin on the diagonal of a matrix [rows,columns] in column-major
 * order, applied to the rows after them. */
typedef struct reflectors {
    const eddy_kernel *k;
    eddy_dtype         d;
    bool               turned;
    int                rows, columns, ld, count;
    char              *v, *t, *c, *room;
} reflectors;

static void apply_piece(void *arg, int64_t first, int64_t end, int who)
{
    const reflectors *r = arg;
    const size_t      size = eddy_dtype_size(r->d);
    const char       *turn = r->turned ? "T" : "N";
    const int64_t     rows = piece_rows(r->columns);
    const int         ldt = BLOCK;
    (void)who;
    for (int64_t i = first; i < end; i++) {
        const int m = (int)eddy__min(rows, r->rows - i * rows);
        void     *c = r->c + (size_t)(i * rows) * size;
        void     *room = r->room + (size_t)(i * rows * BLOCK) * size, *v = r->v, *t = r->t;
        eddy__blas_enter();
        if (r->d == EDDY_FLOAT32)
            slarfb_("R", turn, "F", "R", &m, &r->columns, &r->count, v, &r->ld, t, &ldt, c, &r->ld,
                    room, &m, 1, 1, 1, 1);
        else
            dlarfb_("R", turn, "F", "R", &m, &r->columns, &r->count, v, &r->ld, t, &ldt, c, &r->ld,
                    room, &m, 1, 1, 1, 1);
        eddy__blas_leave();
    }
}

static void apply(reflectors r, const void *tau)
{
    const int ldt = BLOCK;
    void     *v = r.v, *t = r.t;
    if (r.rows == 0 || eddy__stopped(r.k->stop)) return;
    eddy__blas_enter();
    if (r.d == EDDY_FLOAT32)
        slarft_("F", "R", &r.columns, &r.count, v, &r.ld, tau, t, &ldt, 1, 1);
    else
        dlarft_("F", "R", &r.columns, &r.count, v, &r.ld, tau, t, &ldt, 1, 1);
    eddy__blas_leave();
    const int64_t rows = piece_rows(r.columns);
    eddy__parallel_or_stop(r.k, (r.rows + rows - 1) / rows, 1, apply_piece, &r);
}

/* The block whose first reflector is number i, for `rows` rows in all; work is divided into the
 * triangle of the block and what its application needs. */
static reflectors block_at(const eddy_kernel *k, eddy_dtype d, int64_t i, int64_t count,
                           int64_t rows, int64_t m, void *a, int64_t ld, void *work)
{
    const size_t  size = eddy_dtype_size(d);
    const int64_t many = eddy__min(BLOCK, count - i);
    char         *v = (char *)a + (size_t)(i * (ld + 1)) * size;
    return (reflectors){ .k = k, .d = d, .rows = (int)(rows - i - many), .columns = (int)(m - i),
                         .ld = (int)ld, .count = (int)many, .v = v, .t = work,
                         .c = v + (size_t)many * size,
                         .room = (char *)work + (size_t)(2 * BLOCK * BLOCK) * size };
}

int64_t eddy__blocks_qr_work(int64_t n, int64_t c)
{
    return 2 * BLOCK * BLOCK + eddy__max(n, c) * BLOCK;
}

/* The transpose is L Q, so that a is Q'' L'' with '' the transpose. */
void eddy__blocks_qr(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t n, void *a, void *tau,
                     void *work)
{
    const size_t  size = eddy_dtype_size(d);
    const int64_t count = eddy__min(m, n);
    const int     room = BLOCK * BLOCK;
    for (int64_t i = 0; i < count && !eddy__stopped(k->stop); i += BLOCK) {
        const reflectors r = block_at(k, d, i, count, n, m, a, n, work);
        void            *v = r.v, *of = (char *)tau + (size_t)i * size;
        void            *own = r.t + (size_t)room * size;
        int              info = 0;
        eddy__blas_enter();
        if (d == EDDY_FLOAT32)
            sgelqf_(&r.count, &r.columns, v, &r.ld, of, own, &room, &info);
        else
            dgelqf_(&r.count, &r.columns, v, &r.ld, of, own, &room, &info);
        eddy__blas_leave();
        apply(r, of);
    }
}

/* Rows [i0, i1) of columns [0, n) of a matrix in column-major order become those of an identity. */
static void identity_rows(const eddy_kernel *k, eddy_dtype d, int64_t i0, int64_t i1, int64_t n,
                          void *a, int64_t ld)
{
    const size_t size = eddy_dtype_size(d);
    for (int64_t j = 0; j < n && !(j % 256 == 0 && eddy__stopped(k->stop)); j++) {
        memset((char *)a + (size_t)(j * ld + i0) * size, 0, (size_t)(i1 - i0) * size);
        if (j < i0 || j >= i1) continue;
        if (d == EDDY_FLOAT32) ((float *)a)[j * (ld + 1)] = 1;
        else ((double *)a)[j * (ld + 1)] = 1;
    }
}

void eddy__blocks_qr_columns(const eddy_kernel *k, eddy_dtype d, int64_t m, int64_t c,
                             int64_t count, void *q, const void *tau, void *work)
{
    const size_t size = eddy_dtype_size(d);
    const int    room = BLOCK * BLOCK;
    if (count < c) identity_rows(k, d, count, c, m, q, c);
    for (int64_t i = (count - 1) / BLOCK * BLOCK; i >= 0 && !eddy__stopped(k->stop); i -= BLOCK) {
        reflectors  r = block_at(k, d, i, count, c, m, q, c, work);
        const void *of = (const char *)tau + (size_t)i * size;
        void       *v = r.v, *own = r.t + (size_t)room * size;
        int         info = 0;
        r.turned = true;
        apply(r, of);
        if (eddy__stopped(k->stop)) return;
        eddy__blas_enter();
        if (d == EDDY_FLOAT32)
            sorglq_(&r.count, &r.columns, &r.count, v, &r.ld, of, own, &room, &info);
        else
            dorglq_(&r.count, &r.columns, &r.count, v, &r.ld, of, own, &room, &info);
        eddy__blas_leave();
        identity_rows(k, d, i, i + r.count, i, q, c);
    }
}
