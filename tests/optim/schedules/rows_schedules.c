/* rows_schedules.c -- schedules as differentiable functions of their rates and other numbers. */
#include "tests/lib/rows.h"

#define N(v) eddy_scalar(g, v)
#define RATE Sum(x[0])
#define OTHER Sum(x[1])
BUILD(exponential, eddy_exponential_decay(RATE, N(7), N(10), OTHER))
BUILD(natural_exp, eddy_natural_exp_decay(RATE, N(7), N(10), OTHER))
BUILD(inverse_time, eddy_inverse_time_decay(RATE, N(7), N(10), OTHER))
BUILD(polynomial, eddy_polynomial_decay(RATE, N(7), N(10), OTHER, N(2)))
BUILD(piecewise, eddy_piecewise_constant(N(7), EDDY_LIST(N(5), N(9)),
                                         EDDY_LIST(Square(RATE), Mul(RATE, OTHER), RATE)))
BUILD(cosine, eddy_cosine_decay(RATE, N(7), N(10), OTHER))
BUILD(restarts, eddy_cosine_decay_restarts(RATE, N(17), N(10), N(2), OTHER))
BUILD(linear_cosine, eddy_linear_cosine_decay(RATE, N(7), N(10), OTHER))
BUILD(noisy, eddy_noisy_linear_cosine_decay(RATE, N(7), N(10), N(0), .num_periods = OTHER))
BUILD(warmup, eddy_linear_warmup(RATE, N(7), N(10), OTHER))
BUILD(inverse_root, eddy_inverse_square_root_decay(RATE, N(17), OTHER))
BUILD(cycle, eddy_one_cycle(RATE, N(7), N(20), .div_factor = OTHER))
BUILD(cycle_momentum, eddy_one_cycle_momentum(RATE, N(7), N(20), OTHER))

#define SCHEDULE(type, how_, fn, from, to)                                      \
    { .op = type, .how = how_, .build = fn, .n = 2, .shape = { S(3, 4), S(4) }, \
      .low = { 0.1, from }, .high = { 1, to }, .options = SWEEP_REAL }
static const sweep_row rows[] = {
    SCHEDULE("Mul", "exponential_decay", exponential, 0.2, 0.5),
    SCHEDULE("Mul", "natural_exp_decay", natural_exp, 0.2, 0.5),
    SCHEDULE("RealDiv", "inverse_time_decay", inverse_time, 0.2, 0.5),
    SCHEDULE("Add", "polynomial_decay", polynomial, 0.2, 0.5),
    SCHEDULE("SelectV2", "piecewise_constant", piecewise, 0.2, 0.5),
    SCHEDULE("Mul", "cosine_decay", cosine, 0.05, 0.2),
    SCHEDULE("Mul", "cosine_decay_restarts", restarts, 0.2, 0.3),
    SCHEDULE("Mul", "linear_cosine_decay", linear_cosine, 0.1, 0.2),
    SCHEDULE("SelectV2", "linear_warmup", warmup, 0.05, 0.2),
    SCHEDULE("Mul", "inverse_square_root_decay", inverse_root, 1, 2),
    SCHEDULE("SelectV2", "one_cycle", cycle, 2, 5),
    SCHEDULE("SelectV2", "one_cycle_momentum", cycle_momentum, 0.1, 0.2),
    { .op = "Mul", .how = "noisy_linear_cosine_decay", .build = noisy, .n = 2,
      .shape = { S(3, 4), S(4) }, .low = { 0.1, 0.1 }, .high = { 1, 0.2 },
      .options = SWEEP_REAL | SWEEP_RANDOM },
};
static const sweep_exempt exempts[] = {
    { "HostScalar", "calls the program, which no file and no other graph can hold" },
};
FAMILY(schedules, rows, exempts);
