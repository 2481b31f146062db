/* test_optim_elementwise.c -- newer elementwise optimizers against plain loops in float64 and
 * results of PyTorch 1.13. */
#include "tests/lib/optimizer_steps.h"

Suite *optim_elementwise_suite(void);

static eddy_tensor number(eddy_graph *g, double x) { return eddy_number(g, EDDY_FLOAT64, x); }

/* The moments of Adam, in slots 0 and 1. */
static void moments(const bool *touched, const double *d, steps_memory *m)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        m->slot[0][i] = 0.9 * m->slot[0][i] + 0.1 * d[i];
        m->slot[1][i] = 0.999 * m->slot[1][i] + 0.001 * d[i] * d[i];
    }
}

/* ---------------------------------------------------------------- the references -- */

static void adamw_by(bool amsgrad, int t, const bool *touched, const double *d, double *x,
                     steps_memory *m)
{
    moments(touched, d, m);
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        m->slot[2][i] = fmax(m->slot[2][i], m->slot[1][i]);
        const double s = m->slot[amsgrad ? 2 : 1][i] / (1 - pow(0.999, t));
        x[i] -= 0.05 * 0.1 * x[i];
        x[i] -= 0.05 * m->slot[0][i] / (1 - pow(0.9, t)) / (sqrt(s) + 1e-8);
    }
}

static void adamw(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    adamw_by(false, t, touched, d, x, m);
}

static void adamw_amsgrad(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    adamw_by(true, t, touched, d, x, m);
}

/* tf.keras's Adam with amsgrad: no correction stands under the maximum. */
static void adam_amsgrad(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    const double alpha = 0.05 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t));
    moments(touched, d, m);
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        m->slot[2][i] = fmax(m->slot[2][i], m->slot[1][i]);
        x[i] -= alpha * m->slot[0][i] / (sqrt(m->slot[2][i]) + 1e-8);
    }
}

static void adamax(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        m->slot[0][i] = 0.9 * m->slot[0][i] + 0.1 * d[i];
        m->slot[1][i] = fmax(0.999 * m->slot[1][i], fabs(d[i]) + 1e-8);
        x[i] -= 0.05 / (1 - pow(0.9, t)) * m->slot[0][i] / m->slot[1][i];
    }
}

static void nadam(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    const double mu = 0.9 * (1 - 0.5 * pow(0.96, t * 0.004));
    const double next = 0.9 * (1 - 0.5 * pow(0.96, (t + 1) * 0.004));
    m->scalar = (t == 1 ? 1 : m->scalar) * mu;
    moments(touched, d, m);
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        const double below = sqrt(m->slot[1][i] / (1 - pow(0.999, t))) + 1e-8;
        x[i] -= 0.05 * (1 - mu) / (1 - m->scalar) * d[i] / below;
        x[i] -= 0.05 * next / (1 - m->scalar * next) * m->slot[0][i] / below;
    }
}

static void radam(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    const double left = 1 - pow(0.999, t), most = 2 / (1 - 0.999) - 1;
    const double r = most - 2 * t * pow(0.999, t) / left;
    const double q = sqrt((r - 4) * (r - 2) * most / ((most - 4) * (most - 2) * r));
    moments(touched, d, m);
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        const double mean = m->slot[0][i] / (1 - pow(0.9, t));
        x[i] -= r > 5 ? 0.05 * mean * q * sqrt(left) / (sqrt(m->slot[1][i]) + 1e-8) : 0.05 * mean;
    }
}

static void yogi(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    for (int i = 0; i < STEPS_ELEMENTS && t == 1; i++) m->slot[1][i] = 1e-6;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        double      *s = &m->slot[1][i];
        const double square = d[i] * d[i];
        m->slot[0][i] = 0.9 * m->slot[0][i] + 0.1 * d[i];
        *s -= 0.001 * square * (*s > square ? 1 : *s < square ? -1 : 0);
        x[i] -= 0.01 * m->slot[0][i] / (1 - pow(0.9, t)) /
                (sqrt(*s / (1 - pow(0.999, t))) + 0.001);
    }
}

static void lion(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    (void)t;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        const double c = 0.9 * m->slot[0][i] + 0.1 * d[i];
        x[i] -= 0.01 * ((c > 0) - (c < 0) + 0.1 * x[i]);
        m->slot[0][i] = 0.99 * m->slot[0][i] + 0.01 * d[i];
    }
}

/* ------------------------------------------------------------------- the builders -- */

static eddy_optimizer *make_adamw(eddy_graph *g, bool lazy)
{
    return eddy_adamw(g, number(g, 0.05), .weight_decay = number(g, 0.1), .lazy = lazy);
}

static eddy_optimizer *make_adamw_amsgrad(eddy_graph *g, bool lazy)
{
    return eddy_adamw(g, number(g, 0.05), .weight_decay = number(g, 0.1), .amsgrad = true,
                      .lazy = lazy);
}

static eddy_optimizer *make_adam_amsgrad(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_adam(g, number(g, 0.05), number(g, 0.9), number(g, 0.999), number(g, 1e-8),
                     .amsgrad = true);
}

static eddy_optimizer *make_adamax(eddy_graph *g, bool lazy)
{
    return eddy_adamax(g, number(g, 0.05), .lazy = lazy);
}

static eddy_optimizer *make_nadam(eddy_graph *g, bool lazy)
{
    return eddy_nadam(g, number(g, 0.05), .lazy = lazy);
}

static eddy_optimizer *make_radam(eddy_graph *g, bool lazy)
{
    return eddy_radam(g, number(g, 0.05), .lazy = lazy);
}

static eddy_optimizer *make_yogi(eddy_graph *g, bool lazy) { return eddy_yogi(g, .lazy = lazy); }

static eddy_optimizer *make_lion(eddy_graph *g, bool lazy)
{
    return eddy_lion(g, number(g, 0.01), .weight_decay = number(g, 0.1), .lazy = lazy);
}

enum { ADAMW, ADAMW_AMSGRAD, ADAM_AMSGRAD, ADAMAX, NADAM, RADAM, YOGI, LION, CASES };

static const steps_case cases[CASES] = {
    [ADAMW] = { "AdamW", make_adamw, adamw, true, false, 2e-6, 0 },
    [ADAMW_AMSGRAD] = { "AdamW, amsgrad", make_adamw_amsgrad, adamw_amsgrad, true, false, 2e-6, 0 },
    [ADAM_AMSGRAD] = { "Adam, amsgrad", make_adam_amsgrad, adam_amsgrad, false, false, 2e-6, 0 },
    [ADAMAX] = { "Adamax", make_adamax, adamax, true, false, 2e-6, 0 },
    [NADAM] = { "Nadam", make_nadam, nadam, true, false, 2e-6, 0 },
    [RADAM] = { "RAdam", make_radam, radam, true, false, 2e-6, 0 },
    [YOGI] = { "Yogi", make_yogi, yogi, true, false, 2e-6, 0 },
    [LION] = { "Lion", make_lion, lion, true, false, 2e-6, 0 },
};

START_TEST(twenty_steps) { steps_check(&cases[_i]); }
END_TEST

/* torch.optim of PyTorch 1.13 with lr 0.05, AdamW with weight_decay 0.1, everything else as it
 * is by default, on the same gradients in float64.  Its NAdam multiplies mu(t) twice into what
 * divides the moment, which later versions do not; the figures are those without. */
START_TEST(figures_of_pytorch)
{
    static const struct {
        int    of;
        double want[3][5];
    } torch[] = {
        { ADAMW,
          { { 0.447500000638303, 0.338050000881754, -0.109200000314212, -0.26865,
              -0.756449999650868 },
            { 0.325048174380287, 0.411242809451027, -0.0659413133482318, -0.260690574638561,
              -0.853593934726135 },
            { 0.262165766467887, 0.412030536613232, -0.046146896765231, -0.244244829674147,
              -0.845031463645715 } } },
        { ADAMW_AMSGRAD,
          { { 0.447500000638303, 0.338050000881754, -0.109200000314212, -0.26865,
              -0.756449999650868 },
            { 0.325044923433604, 0.411242809451027, -0.0659413133482318, -0.260690574638561,
              -0.853593934726135 },
            { 0.262159868653186, 0.412025814457961, -0.0461450602994996, -0.244244829674147,
              -0.845031463645715 } } },
        { ADAMAX,
          { { 0.450000000638303, 0.340000000881754, -0.110000000314212, -0.27,
              -0.759999999650868 },
            { 0.357625654054145, 0.397847198510413, -0.0779650951315354, -0.27,
              -0.856092526092892 },
            { 0.324423707990014, 0.417257070387059, -0.0654492177509612, -0.27,
              -0.890341159149861 } } },
        { NADAM,
          { { 0.447177411756567, 0.337177412013761, -0.10717741141418, -0.27,
              -0.762822588548928 },
            { 0.461712077222512, 0.390233392688205, -0.140149693029259, -0.27,
              -0.754292590282216 },
            { 0.450712659046986, 0.437964568630552, -0.16468513231138, -0.27,
              -0.772380767413483 } } },
        { RADAM,
          { { 0.460833654518626, 0.361647424549819, -0.0804357929436809, -0.27,
              -0.781606180107154 },
            { 0.360036974846225, 0.421667372926271, -0.0119445579404359, -0.27,
              -1.00449344382385 },
            { 0.357801387592526, 0.4237763229162, -0.0115957694238115, -0.27,
              -1.00698370803566 } } },
    };
    for (size_t i = 0; i < sizeof torch / sizeof *torch; i++)
        steps_figures(&cases[torch[i].of], torch[i].want, 1e-12);
}
END_TEST

Suite *optim_elementwise_suite(void)
{
    Suite *suite = suite_create("optim_elementwise");
    TCase *c = tcase_create("optim_modern");
    tcase_add_loop_test(c, twenty_steps, 0, CASES);
    tcase_add_test(c, figures_of_pytorch);
    suite_add_tcase(suite, c);
    return suite;
}
