/* test_error_functions.c -- erfcx and log_ndtr of float64 against numbers computed with MPFR in 400
 * bits: where their formulas change, where errors were found to be large, and far out. */
#include "build/gen/table.h"

#include <check.h>
#include <math.h>

#include "build/gen/suites.h"

typedef struct value { double x, y; } value;

static const value erfcx_values[] = {
    { -INFINITY, INFINITY },
    { -0x1.aa664a6d8a4p+4, INFINITY },
    { -0x1.aa3d70a3d70a4p+4, INFINITY },
    { -0x1.a9p+4, 0x1.e36d6771025ap+1018 },
    { -0x1.66fa0200fc64p+2, 0x1.4f230f99b9381p+46 },
    { -0x1.c34b180a1c16p-1, 0x1.f1917a3b26a73p+1 },
    { -0x1.c5d1325fe4ap-1, 0x1.f6a35e9708ad6p+1 },
    { -0x1p-60, 1 },
    { 0, 1 },
    { 0x1.60bed8ea7fcp-6, 0x1.f3cb8a83472d8p-1 },
    { 0x1.6666666666666p-1, 0x1.0d46bdbdc7babp-1 },
    { 0x1.7333333333333p+1, 0x1.7a1085aa16d4p-3 },
    { 0x1.3ffffffffffffp+3, 0x1.cbe831f997125p-5 },
    { 10, 0x1.cbe831f997124p-5 },
    { 0x1.371f035052008p+4, 0x1.dabf76253a06ep-6 },
    { 0x1.2703228fb58d5p+4, 0x1.f498ec08d2f53p-6 },
    { 28, 0x1.49ebde7878139p-6 },
    { 0x1.274b747403676p+8, 0x1.f4d9556a81c58p-10 },
    { 0x1.81cd6c8b43958p+13, 0x1.7f5aa0c6d16eap-15 },
};

static const value log_ndtr_values[] = {
    { -INFINITY, -INFINITY },
    { -0x1.cb3988816264p+12, -0x1.9be3b809360f5p+24 },
    { -0x1.3a28c59d5433ap+10, -0x1.81890d07f3ce4p+19 },
    { -0x1.5e26666666666p+9, -0x1.def0c1fa3ed9cp+17 },
    { -0x1.89126c7e1261ap+6, -0x1.2e1ce4d31a16bp+12 },
    { -0x1.c666666666666p+3, -0x1.a1969c1619c12p+6 },
    { -0x1.c333333333333p+3, -0x1.9be67bc55d823p+6 },
    { -0x1.d99999999999ap+1, -0x1.2453d9216e9aep+3 },
    { -0x1.7df22ed247c9p-1, -0x1.7aa7db8a1968ep+0 },
    { -0x1.f6cb6a6062f8p-3, -0x1.d146114975662p-1 },
    { -0x1.9bff66cf7d68p-3, -0x1.bbd0e40ef4b0bp-1 },
    { -0x1.4cd2692fe5e09p-3, -0x1.a9a9775b4cce2p-1 },
    { -0x1.1cc0decdbc08p-3, -0x1.9ee4237ed5432p-1 },
    { -0x1p-60, -0x1.62e42fefa39efp-1 },
    { 0, -0x1.62e42fefa39efp-1 },
    { 0x1p-30, -0x1.62e42fe9418dap-1 },
    { 0x1.3d70a3d70a3d7p-2, -0x1.e6ac2ff408713p-2 },
    { 0x1.e666666666666p+0, -0x1.dd613786662f8p-6 },
    { 0x1.30ea1758aac5p+2, -0x1.fcbe7c310879fp-21 },
    { 0x1.9666666666666p+3, -0x1.926a7ab8ce73p-122 },
    { 0x1.28c0cbcd5802cp+5, -0x1.defc6880fbaf2p-1000 },
    { 0x1.3333333333333p+5, -0x0.000000000000dp-1022 },
};

/* Within two units of the rounded value. */
static void check(const eddy_op_def *op, const value *v, int count)
{
    const eddy_type f64 = { EDDY_FLOAT64, { .rank = 0 } };
    for (int i = 0; i < count; i++) {
        const void *in = &v[i].x;
        double      y;
        ck_assert_int_eq(op->tile(&f64, &f64)(1, &y, &in, NULL), EDDY_OK);
        const double last = nextafter(fabs(v[i].y), INFINITY) - fabs(v[i].y);
        ck_assert_msg(y == v[i].y || fabs(y - v[i].y) <= 2 * last, "%s(%a) is %a, not %a", op->name,
                      v[i].x, y, v[i].y);
    }
}

START_TEST(erfcx_is_near)
{
    check(&eddy_op_erfcx, erfcx_values, sizeof erfcx_values / sizeof *erfcx_values);
}
END_TEST

START_TEST(log_ndtr_is_near)
{
    check(&eddy_op_log_ndtr, log_ndtr_values, sizeof log_ndtr_values / sizeof *log_ndtr_values);
}
END_TEST

Suite *error_functions_suite(void)
{
    Suite *s = suite_create("error_functions");
    TCase *t = tcase_create("error_functions");
    tcase_add_test(t, erfcx_is_near);
    tcase_add_test(t, log_ndtr_is_near);
    suite_add_tcase(s, t);
    return s;
}
