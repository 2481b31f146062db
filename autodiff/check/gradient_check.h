/* gradient_check.h -- gradient checking by finite differences, for authors of gradient rules. */
#ifndef EDDY_AUTODIFF_CHECK_GRADIENT_CHECK_H
#define EDDY_AUTODIFF_CHECK_GRADIENT_CHECK_H

#include "../../session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a check. If derivatives disagree, the other members give the location of the
 * largest error: in the operation whose own rule is wrong, or, if there is none, in ys and xs. A
 * custom gradient counts as one operation between its x and y. */
typedef struct eddy_gradient_report {
    bool        ok;
    double      absolute, relative;   /* largest errors of ys by xs; infinite where not finite */
    int         order;                /* of the derivative: 1 or 2 */
    eddy_tensor op;                   /* the op at fault; invalid if none is by itself */
    const char *gradient;             /* the name of the custom gradient at fault, whose node `op`
                                         is; NULL for an op's own; the graph owns it */
    int         input;                /* of the op or custom gradient, or number among xs */
    int64_t     element;              /* of that input, row-major */
    bool        imaginary;            /* of a complex element, that part; else the real one */
    double      analytic, numeric;
    char       *text;                 /* in words; for eddy_string_free */
} eddy_gradient_report;

typedef struct eddy_gradient_check_args {
    size_t                size_ EDDY_DEFAULT(sizeof(eddy_gradient_check_args));
    eddy_session         *session;
    eddy_list             ys, xs;
    /* the placeholders, and xs that are not to have their present value: a variable
     * among xs then has this one also where eddy_read reads it */
    eddy_feeds            feeds;
    /* Left out, by dtype, float64 and float32: 2^-13 and 2^-7 of the element or of 1 ... */
    double                delta EDDY_DEFAULT(EDDY_OMITTED);
    /* ... 1e-5 and 1e-3, times the largest y if that is above 1 */
    double                absolute EDDY_DEFAULT(EDDY_OMITTED);
    double                relative EDDY_DEFAULT(EDDY_OMITTED); /* ... 1e-3 and 1e-2 */
    int                   order EDDY_DEFAULT(1); /* 2: also the gradients' own gradients */
    eddy_gradient_report *report;     /* may be NULL */
} eddy_gradient_check_args;

/* Compares the gradients of ys with respect to xs with five-point finite differences, at the
 * values given by the session and the feeds.
 *
 *   eddy_gradient_report r;
 *   if (eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r) != EDDY_OK)
 *       fputs(r.text, stderr);
 *   eddy_string_free(r.text);
 *
 * Each element of a small x is varied, ranges of elements of a large one. If ys are small, all
 * pairs of elements are compared; otherwise random sums of ys, the same ones each time. A
 * complex element counts as two, its real and its imaginary part, and the parts of the gradient
 * are the derivatives by the two. If a derivative disagrees, every operation on the path is then
 * checked alone, at its values in this run. Integers are skipped; a missing gradient counts as
 * zero. Appends nodes to the graph.
 *
 * All runs use another session on the graph, without options, that starts with the values of
 * this session's variables and is freed at the end. There an x that is a variable is varied by
 * setting it, so that eddy_read sees it too; any other x is fed. In the caller's session
 * variables keep their values, whatever ys update and whatever fails, and none of its runs sees
 * the varied values. The variables' memory is needed twice.
 *
 * Returns EDDY_CHECK_FAILED if a derivative disagrees or is not finite, or if ys vary from run to
 * run; otherwise errors of the graph, the session or a run. tf.test.compute_gradient; torch's
 * gradcheck and, with .order = 2, gradgradcheck. */
EDDY_API eddy_status eddy_gradient_check_with(const eddy_gradient_check_args *given);
#define eddy_gradient_check(...) \
    eddy_gradient_check_with(EDDY_ARGS(eddy_gradient_check_args, __VA_ARGS__))

/* The largest absolute error alone; NaN on an error. tf.test.compute_gradient_error. */
EDDY_API double eddy_gradient_error_with(const eddy_gradient_check_args *given);
#define eddy_gradient_error(...) \
    eddy_gradient_error_with(EDDY_ARGS(eddy_gradient_check_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
