/* blas.c -- declares what the functions of BLAS that the library calls read and write
 * (tests/msan/memory.h). The linker puts __wrap_NAME in the place of NAME. */
#include "tests/msan/memory.h"

#include <cblas.h>

/* Nobody calls these names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A matrix [m,n] in either order. */
static lines stored(CBLAS_ORDER order, const void *at, int m, int n, int ld, size_t size)
{
    const bool by_rows = order == CblasRowMajor;
    return (lines){ at, by_rows ? m : n, by_rows ? n : m, ld, size, WHOLE };
}

/* One with op(matrix) [m,n]. */
static lines operand(CBLAS_ORDER order, CBLAS_TRANSPOSE op, const void *at, int m, int n, int ld,
                     size_t size)
{
    return op == CblasNoTrans ? stored(order, at, m, n, ld, size)
                              : stored(order, at, n, m, ld, size);
}

static lines triangle(CBLAS_ORDER order, CBLAS_UPLO uplo, const void *at, int n, int ld,
                      size_t size)
{
    lines l = stored(order, at, n, n, ld, size);
    l.part = (uplo == CblasUpper) == (order == CblasRowMajor) ? FROM_DIAGONAL : TO_DIAGONAL;
    return l;
}

static lines elements(const void *at, int n, int step, size_t size)
{
    return (lines){ at, n, 1, step, size, WHOLE };
}

static bool is_zero(const void *scalar, size_t size)
{
    const char *bytes = scalar;
    reads(vector_of(scalar, 1, size));
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* For the type of prefix t: numbers given by value as `number`, arrays of `array`, elements of
 * `size` bytes; AT(x) is the address of a number. */
#define BY_VALUE(x)   (&(x))
#define BY_ADDRESS(x) (x)

#define GEMM(t, number, array, size, AT)                                                           \
    void __real_cblas_##t##gemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, int, int, int,      \
                                number, const array *, int, const array *, int, number, array *,   \
                                int);                                                              \
    void __wrap_cblas_##t##gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m,  \
                                int n, int k, number alpha, const array *a, int lda,               \
                                const array *b, int ldb, number beta, array *c, int ldc)           \
    {                                                                                              \
        const lines result = stored(order, c, m, n, ldc, size);                                    \
        if (!is_zero(AT(alpha), size)) {                                                           \
            reads(operand(order, ta, a, m, k, lda, size));                                         \
            reads(operand(order, tb, b, k, n, ldb, size));                                         \
        }                                                                                          \
        if (!is_zero(AT(beta), size)) reads(result);                                               \
        __real_cblas_##t##gemm(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);       \
        writes(result);                                                                            \
    }
GEMM(s, float, float, 4, BY_VALUE)
GEMM(d, double, double, 8, BY_VALUE)
GEMM(c, const void *, void, 8, BY_ADDRESS)
GEMM(z, const void *, void, 16, BY_ADDRESS)

#define GEMV(t, number, array, size, AT)                                                           \
    void __real_cblas_##t##gemv(CBLAS_ORDER, CBLAS_TRANSPOSE, int, int, number, const array *,     \
                                int, const array *, int, number, array *, int);                    \
    void __wrap_cblas_##t##gemv(CBLAS_ORDER order, CBLAS_TRANSPOSE op, int m, int n, number alpha, \
                                const array *a, int lda, const array *x, int x_step, number beta,  \
                                array *y, int y_step)                                              \
    {                                                                                              \
        const lines result = elements(y, op == CblasNoTrans ? m : n, y_step, size);                \
        reads(stored(order, a, m, n, lda, size));                                                  \
        reads(elements(x, op == CblasNoTrans ? n : m, x_step, size));                              \
        if (!is_zero(AT(alpha), size) && !is_zero(AT(beta), size)) reads(result);                  \
        __real_cblas_##t##gemv(order, op, m, n, alpha, a, lda, x, x_step, beta, y, y_step);        \
        writes(result);                                                                            \
    }
GEMV(s, float, float, 4, BY_VALUE)
GEMV(d, double, double, 8, BY_VALUE)
GEMV(c, const void *, void, 8, BY_ADDRESS)
GEMV(z, const void *, void, 16, BY_ADDRESS)

#define AXPY_AND_SCAL(t, number, size)                                                             \
    void __real_cblas_##t##axpy(int, number, const number *, int, number *, int);                  \
    void __wrap_cblas_##t##axpy(int n, number alpha, const number *x, int x_step, number *y,       \
                                int y_step)                                                        \
    {                                                                                              \
        reads(elements(x, n, x_step, size));                                                       \
        reads(elements(y, n, y_step, size));                                                       \
        __real_cblas_##t##axpy(n, alpha, x, x_step, y, y_step);                                    \
    }                                                                                              \
    void __real_cblas_##t##scal(int, number, number *, int);                                       \
    void __wrap_cblas_##t##scal(int n, number alpha, number *x, int step)                          \
    {                                                                                              \
        reads(elements(x, n, step, size));                                                         \
        __real_cblas_##t##scal(n, alpha, x, step);                                                 \
    }
AXPY_AND_SCAL(s, float, 4)
AXPY_AND_SCAL(d, double, 8)

#define TRSM(t, number, array, size)                                                               \
    void __real_cblas_##t##trsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO, CBLAS_TRANSPOSE, CBLAS_DIAG,  \
                                int, int, number, const array *, int, array *, int);               \
    void __wrap_cblas_##t##trsm(CBLAS_ORDER order, CBLAS_SIDE side, CBLAS_UPLO uplo,               \
                                CBLAS_TRANSPOSE op, CBLAS_DIAG diagonal, int m, int n,             \
                                number alpha, const array *a, int lda, array *b, int ldb)          \
    {                                                                                              \
        lines whole = triangle(order, uplo, a, side == CblasLeft ? m : n, lda, size);              \
        if (diagonal == CblasUnit)                                                                 \
            whole.part = whole.part == FROM_DIAGONAL ? AFTER_DIAGONAL : BEFORE_DIAGONAL;           \
        reads(whole);                                                                              \
        reads(stored(order, b, m, n, ldb, size));                                                  \
        __real_cblas_##t##trsm(order, side, uplo, op, diagonal, m, n, alpha, a, lda, b, ldb);      \
    }
TRSM(s, float, float, 4)
TRSM(d, double, double, 8)
TRSM(c, const void *, void, 8)
TRSM(z, const void *, void, 16)

/* `name`: syrk, or herk of complex numbers. */
#define RANK_K(name, number, array, size)                                                          \
    void __real_cblas_##name(CBLAS_ORDER, CBLAS_UPLO, CBLAS_TRANSPOSE, int, int, number,           \
                             const array *, int, number, array *, int);                            \
    void __wrap_cblas_##name(CBLAS_ORDER order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE op, int n, int k, \
                             number alpha, const array *a, int lda, number beta, array *c,         \
                             int ldc)                                                              \
    {                                                                                              \
        const lines result = triangle(order, uplo, c, n, ldc, size);                               \
        reads(operand(order, op, a, n, k, lda, size));                                             \
        if (!is_zero(&beta, sizeof beta)) reads(result);                                           \
        __real_cblas_##name(order, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                   \
        writes(result);                                                                            \
    }
RANK_K(ssyrk, float, float, 4)
RANK_K(dsyrk, double, double, 8)
RANK_K(cherk, float, void, 8)
RANK_K(zherk, double, void, 16)
