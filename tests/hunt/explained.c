/* explained.c -- findings that are meant to be so, and why; docs/inside/extremes.md lists them. */
#include "tests/hunt/hunt.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Of an operation, by its name, or of a formula, by its row's `how`. */
typedef struct explanation {
    const char *op, *how;
    int         kinds;
    double      error;            /* at most this many epsilons; 0: any */
    double      below;            /* only if the truth is smaller, in float32; 0: any */
    double      beyond;           /* only where an argument is larger, in float32; 0: anywhere */
    const char *why;
} explanation;

static const char *const near_1 = "TensorFlow's formula: as exact as numbers near 1 are";
static const char *const far = "the square of 1 / (1 + x*x) underflows, or 2 x overflows";

static const char *const safe = "TensorFlow's rule where an operand is 0";
static const char *const equal =
    "TensorFlow's rule: 0 for equal values, and digits lost with the differences of near ones";
static const char *const zeros = "a norm or deviation has no derivative where it is 0";
static const char *const products = "a product of elements is beyond the largest number";

static const explanation explanations[] = {
    { "Tanh", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "Sigmoid", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "Softplus", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "Elu", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "Selu", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "GeluTanh", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "BesselI0e", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "BesselI1e", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "Softmax", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "LogSoftmax", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "SoftmaxCrossEntropyWithLogits", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "SparseSoftmaxCrossEntropyWithLogits", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0,
      near_1 },
    { "SigmoidCrossEntropyWithLogits", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "LogAddExp", NULL, HUNT_ZERO | HUNT_ERROR, 32, 0, 0, near_1 },
    { "Atan", NULL, HUNT_ZERO, 0, 1e-27, 1e9, far },
    { "Atan", NULL, HUNT_NAN, 0, 0, 8e37, far },
    { "Softsign", NULL, HUNT_ZERO, 0, 1e-27, 1e9, far },
    { "Softsign", NULL, HUNT_NAN, 0, 0, 8e37, far },
    { "Digamma", NULL, HUNT_ZERO, 0, 1e-27, 1e9, "a power of x underflows" },
    { "Pow", NULL, HUNT_NAN | HUNT_KINK, 0, 0, 0, "0^0, whose derivative by the base is NaN" },
    { "Atan2", NULL, HUNT_NAN | HUNT_KINK, 0, 0, 0,
      "the angle of (0, 0), whose derivative is NaN" },
    { "Betainc", "beta_cdf", HUNT_NAN | HUNT_KINK, 0, 0, 0,
      "the second derivative at the ends is infinite, times 0" },
    { "Xlogy", NULL, HUNT_ZERO | HUNT_ERROR, 0, 0, 0, safe },
    { "Xdivy", NULL, HUNT_ZERO | HUNT_ERROR, 0, 0, 0, safe },
    { "MulNoNan", NULL, HUNT_ZERO | HUNT_ERROR, 0, 0, 0, safe },
    { "DivNoNan", NULL, HUNT_ZERO | HUNT_ERROR, 0, 0, 0, safe },
    { "Exp2", "ldexp", HUNT_NAN, 0, 0, 0, "2^n overflows, which ldexp does not take" },
    { "FloorMod", NULL, HUNT_ZERO, 0, 0, 0, "a / b underflows before it is rounded" },
    { "CumulativeLogsumexp", "exclusive", HUNT_ANY, 0, 0, 0, "the row takes e^y, which overflows" },
    { "CumulativeLogsumexp", NULL, HUNT_ZERO | HUNT_ERROR, 0, 0, 0,
      "TensorFlow's formula e^(x - y), with y rounded" },
    { "EuclideanNorm", NULL, HUNT_KINK | HUNT_NAN, 0, 0, 0, zeros },
    { "Sqrt", "std", HUNT_KINK | HUNT_NAN, 0, 0, 0, zeros },
    { "Prod", NULL, HUNT_NAN, 0, 0, 1e9, products },
    { "Cumprod", NULL, HUNT_NAN, 0, 0, 1e9, products },
    { "AvgPool3D", "lp_pool", HUNT_NAN | HUNT_KINK, 0, 0, 0, zeros },
    { "Sort", NULL, HUNT_ZERO | HUNT_ERROR, 0, 0, 0, "one of equal elements has the gradient" },
    { "Minimum", "adjust_saturation", HUNT_ERROR, 0, 0, 0,
      "where the largest channel is 0, DivNoNan has a constant saturation" },
    { "LogMatrixDeterminant", NULL, HUNT_NAN, 0, 0, 100,
      "x + 4 is rounded to x, a singular matrix" },
    { "MatrixExponential", NULL, HUNT_ANY, 0, 0, 5,
      "the exponential of a large matrix overflows, or is as inexact as its elements are large" },
    { "SelfAdjointEigV2", "v exp(e) v'", HUNT_NAN, 0, 0, 5, "the exponential overflows" },
    { "RealDiv", "inverse_stft_window", HUNT_NAN, 0, 0, 0, "powers of 1 / x^2 overflow" },
    { "Conj", NULL, HUNT_NAN, 0, 0, 3, "the row takes exponentials, which overflow" },
    { "Complex", NULL, HUNT_NAN, 0, 0, 3, "the row takes exponentials, which overflow" },
    { "Angle", NULL, HUNT_KINK, 0, 0, 0, "the angle of 0 has no derivative" },
    { "Svd", "full", HUNT_ERROR, 0, 0, 100, "the differences of the values are rounded away" },
    { "Svd", "cond", HUNT_ERROR, 0, 0, 100, "the differences of the values are rounded away" },
    { "Svd", "cond", HUNT_NAN, 0, 0, 100, "the smallest value is rounded to 0" },
    { "Svd", "squares of values", HUNT_ZERO | HUNT_ERROR, 0, 0, 0, equal },
    { "SelfAdjointEigV2", "squares of values", HUNT_ZERO | HUNT_ERROR, 0, 0, 0, equal },
    { "Svd", "u s^3 v'", HUNT_ZERO | HUNT_ERROR, 0, 0, 0, equal },
    { "SelfAdjointEigV2", "v e^2 v'", HUNT_ZERO | HUNT_ERROR, 0, 0, 0, equal },
    { "SelfAdjointEigV2", "v exp(e) v'", HUNT_ZERO | HUNT_ERROR, 0, 0, 0, equal },
    { "Svd", "norm nuc of matrices", HUNT_KINK, 0, 0, 0, zeros },
    { "Svd", "norm nuc of matrices", HUNT_ZERO | HUNT_ERROR, 0, 0, 0, equal },
    { "Svd", "values of matrices", HUNT_KINK, 0, 0, 0, zeros },
    { "Svd", "values of tall matrices", HUNT_KINK, 0, 0, 0, zeros },
    { "GradPassThrough", NULL, HUNT_ANY, 0, 0, 0,
      "the value of one tensor, the gradient of another" },
    { "Cast", NULL, HUNT_ANY, 0, 0, 0, "the row casts float64 to float32" },
};

/* A bound of float32 in the element type: the same power of the largest number. */
static double bound(const finding *f, double x)
{
    return f->dtype == EDDY_FLOAT32 ? x : pow(x, log(DBL_MAX) / log((double)FLT_MAX));
}

/* The largest argument, and the smallest that is not 0; both 1 if there is none beyond. */
static void sizes_of(const finding *f, double *largest, double *smallest)
{
    *largest = fmax(1, f->largest);
    *smallest = fmin(1, f->smallest);
}

/* In a formula of several operations products of a few extreme arguments are no numbers, and
 * digits are lost where terms cancel: terms as large as the square of the largest argument,
 * divided by the smallest once more for each derivative. */
static const char *explain_formula(const finding *f)
{
    const double eps = f->dtype == EDDY_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    double       largest, smallest;
    sizes_of(f, &largest, &smallest);
    if (largest > bound(f, 1e9) || smallest < bound(f, 1e-9))
        return "a formula of operations: a term is beyond the largest number";
    const char  *how = f->row->how;
    const bool   scores = strstr(f->row->op, "Attention") ||       /* products of products */
                          (how && strcmp(how, "attention") == 0);
    const double term = pow(largest, scores ? 4 : 2) * pow(1 / smallest, f->order);
    return fabs(f->got - f->want) <= 1e3 * eps * term
         ? "a formula of operations: as exact as the largest of its terms" : NULL;
}

/* Of single rows. */
static const char *explain_row(const finding *f)
{
    const double eps = f->dtype == EDDY_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const char  *how = f->row->how ? f->row->how : "";
    if (strcmp(how, "clip") == 0 && f->at[1][0] == f->at[2][0])
        return "TensorFlow's rule: x has the gradient where it is equal to both bounds";
    if (strcmp(how, "exponential_decay") == 0 && f->at[0][0] == 0 && f->at[1][0] == 0)
        return "the derivative of 0^f, which is infinite, times a rate of 0";
    if (strcmp(how, "weighted_moments") == 0 && f->order == 3 && f->smallest < bound(f, 1e-7))
        return "the third derivative by the squares of the weights overflows";
    if (strcmp(how, "lstsq of matrices, regularized") == 0 && isfinite(f->got) &&
        fabs(f->got - f->want) <= 1e3 * eps * f->largest * f->largest)
        return "the regularizer is rounded beside x' x";
    return NULL;
}

/* Powers of the elements of matrices, and of their inverses, are no numbers. */
static const char *explain_matrix(const finding *f)
{
    const double most = pow(bound(f, 1e36), 1.0 / (f->order + 3));
    const char *op = f->row->op;
    if (f->is_singular && (strcmp(op, "Lu") == 0 || strcmp(op, "Qr") == 0))
        return "matrices: singular, and the last pivot is rounding";
    if (f->is_singular && f->order > 1 && strcmp(op, "MatrixPseudoInverse") == 0)
        return "matrices: the formula of the gradient holds for those of the same rank";
    return f->largest > most || f->smallest < 1 / most
         ? "matrices: a power of an element is beyond the largest number" : NULL;
}

/* Derivatives of the incomplete gamma and beta functions are x^(a-1) times differences of powers of
 * 1 / a and 1 / x. */
static const char *explain_incomplete(const finding *f)
{
    const double eps = f->dtype == EDDY_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    if (f->order > 0 && f->smallest < bound(f, 1e-9))
        return "incomplete functions: a power of an argument overflows or underflows";
    if (f->order > 0 && strcmp(f->row->op, "Betainc") == 0 &&
        fabs(f->got - f->want) <= 32 * DBL_EPSILON * f->largest * fabs(f->want))
        return "incomplete functions: a difference of large logarithms, in float64";
    const double term = pow(1 / fmin(1, f->smallest), f->order);
    return f->order > 1 && fabs(f->got - f->want) <= 1e3 * eps * term
         ? "incomplete functions: as exact as powers of 1 / a and 1 / x" : NULL;
}

/* A derivative by x is a difference of numbers near rstd, and that to the power of its order; third
 * powers of rstd underflow. */
static const char *explain_normalization(const finding *f)
{
    const double eps = f->dtype == EDDY_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const int    by_x = (f->j.input == 0) + (f->k.input == 0 ? f->order - 1 : 0);
    double       largest, smallest;
    sizes_of(f, &largest, &smallest);
    const double unit = largest > bound(f, 1e12) ? 1 : eps;
    return f->order > 0 && fabs(f->got - f->want) <= 100 * unit * pow(largest, -by_x)
         ? "normalization: as exact as powers of rstd are" : NULL;
}

static bool is_in(const char *op, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], op) == 0) return true;
    return false;
}

/* Of |x|, in sums whose terms are larger. */
static const char *const lengths[] = { "Abs", "Sign", "Acosh" };

/* Beyond the squares that are numbers, and on a branch cut, where 1 - x*x has lost the sign of a
 * zero. */
static const char *explain_complex(const finding *f)
{
    if (f->largest > bound(f, 1e9) || f->smallest < bound(f, 1e-9))
        return "complex: a square is beyond the largest number";
    const bool on_axis = f->at[0][0] == 0 || f->at[1][0] == 0;
    if (on_axis && fabs(fabs(f->got) - fabs(f->want)) <= 1e-3 * fabs(f->want))
        return "complex: on a branch cut, of its other side, as in TensorFlow";
    return f->is_formula || is_in(f->row->op, lengths, 3) ? explain_formula(f) : NULL;
}

/* Functions whose derivatives are powers of their arguments, or have sums of large terms. */
static bool is_of_powers(const finding *f)
{
    static const char *const names[] = { "Atan2", "Hypot", "Pow", "RealDiv", "DivNoNan", "Xdivy",
                                         "Xlogy", "EuclideanNorm", "GeluGrad", "GeluTanhGrad",
                                         "ScaledDotProductAttention", "PackedSelfAttention",
                                         "CachedAttention", "SegmentProd",
                                         "UnsortedSegmentProd" };
    return is_in(f->row->op, names, sizeof names / sizeof *names);
}

static bool is_incomplete(const finding *f)
{
    static const char *const names[] = { "Igamma", "Igammac", "Betainc" };
    return is_in(f->row->op, names, sizeof names / sizeof *names) && !f->is_formula;
}

static bool is_normalization(const finding *f)
{
    static const char *const names[] = { "LayerNorm", "FusedBatchNormV3" };
    return is_in(f->row->op, names, sizeof names / sizeof *names);
}

static bool explains(const explanation *e, const finding *f)
{
    const double eps = f->dtype == EDDY_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    double       largest, smallest;
    sizes_of(f, &largest, &smallest);
    if (strcmp(e->op, f->row->op) != 0 || !(e->kinds & f->kind)) return false;
    if (e->how && (!f->row->how || strcmp(e->how, f->row->how) != 0)) return false;
    if (e->error != 0 && !(fabs(f->got - f->want) <= e->error * eps)) return false;
    if (e->below != 0 && !(fabs(f->want) < bound(f, e->below))) return false;
    return e->beyond == 0 || largest > bound(f, e->beyond);
}

const char *hunt_explanation(const finding *f)
{
    const char *why = f->is_complex ? explain_complex(f)
                    : f->is_matrix ? explain_matrix(f)
                    : is_incomplete(f) ? explain_incomplete(f)
                    : is_normalization(f) ? explain_normalization(f)
                    : f->is_formula || is_of_powers(f) ? explain_formula(f) : NULL;
    if (!why) why = explain_row(f);
    if (why) return why;
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (explains(&explanations[i], f)) return explanations[i].why;
    return NULL;
}
