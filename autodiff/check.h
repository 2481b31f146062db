/* check.h -- gradients against differences of values, for those who write
 * gradient rules. */
#ifndef EDDY_CHECK_H
#define EDDY_CHECK_H

#include "../session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a check found.  If derivatives disagree, the rest says where most: in the
 * op whose rule disagrees by itself, or, if none does, in ys and xs. */
typedef struct eddy_gradient_report {
    bool        ok;
    double      absolute, relative;   /* largest errors of ys by xs; infinite where not finite */
    int         order;                /* of the derivative: 1 or 2 */
    eddy_tensor op;                   /* the op at fault; invalid if none is by itself */
    int         input;                /* of the op, or number among xs */
    int64_t     element;              /* of that input, row-major */
    bool        imaginary;            /* of a complex element, that part; else the real one */
    double      analytic, numeric;
    char       *text;                 /* in words; for eddy_string_free */
} eddy_gradient_report;

typedef struct eddy_gradient_check_args {
    char                  unused_;
    eddy_session         *session;
    eddy_list             ys, xs;
    /* the placeholders, and xs that are not to have their present value: a variable
     * among xs then has this one also where eddy_read reads it */
    eddy_feeds            feeds;
    /* Zero means by dtype, float64 and float32: 2^-13 and 2^-7 of the element or of 1 ... */
    double                delta;
    double                absolute;   /* ... 1e-5 and 1e-3, times the largest y if that is above 1 */
    double                relative;   /* ... 1e-3 and 1e-2 */
    int                   order;      /* 2: also the gradients' own gradients; default 1 */
    eddy_gradient_report *report;     /* may be NULL */
} eddy_gradient_check_args;

/* Compares the gradients of ys with respect to xs with differences of five
 * points, where the session and the feeds put them.
 *
 *   eddy_gradient_report r;
 *   if (eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r) != EDDY_OK)
 *       fputs(r.text, stderr);
 *   eddy_string_free(r.text);
 *
 * Each element of a small x is moved, stretches of a large one.  All pairs of
 * elements are looked at where ys are small, random sums of ys elsewhere, the same
 * ones each time.  A complex element counts as two, its real and its imaginary
 * part, and the gradient has the derivatives by the two as its parts.  Where a
 * derivative disagrees, every op between xs and ys is then checked alone on the
 * values that it has here.  Integers are passed over; no gradient counts as zero.
 * Appends nodes to the graph.
 *
 * All runs are those of another session on the graph, without options, that begins
 * with the values of this one's variables and is freed at the end.  There an x that is
 * a variable is moved by setting it, so that eddy_read sees it too; any other x
 * is fed.  In the caller's session variables keep their values, whatever ys update
 * and whatever fails, and no run of it sees what is moved.  It takes the variables'
 * memory once more.
 *
 * Returns CHECK_FAILED if a derivative disagrees or is not finite, or if ys vary
 * from run to run; an error of the graph, the session or a run as it is there.
 * tf.test.compute_gradient; torch's gradcheck and, with .order = 2, gradgradcheck. */
EDDY_API eddy_status eddy_gradient_check_with(eddy_gradient_check_args args);
#define eddy_gradient_check(...) \
    eddy_gradient_check_with(EDDY_ARGS(eddy_gradient_check_args, __VA_ARGS__))

/* The largest absolute error alone; NaN if it cannot be had.
 * tf.test.compute_gradient_error. */
EDDY_API double eddy_gradient_error_with(eddy_gradient_check_args args);
#define eddy_gradient_error(...) \
    eddy_gradient_error_with(EDDY_ARGS(eddy_gradient_check_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
