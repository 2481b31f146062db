/* nist_regression.c -- see nist_regression.h. */
#include "tests/optim/nist_regression.h"
#include "tests/optim/nist_data.h"
#include "ops/short_names.h"

/* ------------------------------------------------------------------ models -- */

static eddy_tensor power(eddy_tensor x, const eddy_tensor *b) { return Mul(b[0], Pow(x, b[1])); }

static eddy_tensor saturation(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(b[0], Sub(1, Exp(Neg(Mul(b[1], x)))));
}

static eddy_tensor arctangent(eddy_tensor x, const eddy_tensor *b)
{
    const eddy_tensor turn = eddy_atan(Div(b[2], Sub(x, b[3])));
    return Sub(Sub(b[0], Mul(b[1], x)), Div(turn, 3.141592653589793238462643));
}

static eddy_tensor two_exponentials(eddy_tensor x, const eddy_tensor *b)
{
    return Add(b[0], Add(Mul(b[1], Exp(Neg(Mul(x, b[3])))), Mul(b[2], Exp(Neg(Mul(x, b[4]))))));
}

static eddy_tensor quotient_of_quadratics(eddy_tensor x, const eddy_tensor *b)
{
    const eddy_tensor square = Mul(x, x);
    return Div(Mul(b[0], Add(square, Mul(x, b[1]))), Add(square, Add(Mul(x, b[2]), b[3])));
}

static eddy_tensor quotient_of_cubics(eddy_tensor x, const eddy_tensor *b)
{
    const eddy_tensor above = Add(b[0], Mul(x, Add(b[1], Mul(x, Add(b[2], Mul(x, b[3]))))));
    const eddy_tensor below = Add(1, Mul(x, Add(b[4], Mul(x, Add(b[5], Mul(x, b[6]))))));
    return Div(above, below);
}

static eddy_tensor exponential_of_quotient(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(b[0], Exp(Div(b[1], Add(x, b[2]))));
}

static eddy_tensor bell(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(Div(b[0], b[1]), Exp(Mul(-0.5, Square(Div(Sub(x, b[2]), b[1])))));
}

static eddy_tensor growth(eddy_tensor x, const eddy_tensor *b)
{
    return Div(b[0], Pow(Add(1, Exp(Sub(b[1], Mul(b[2], x)))), Div(1, b[3])));
}

static eddy_tensor decay_over_line(eddy_tensor x, const eddy_tensor *b)
{
    return Div(Exp(Neg(Mul(b[0], x))), Add(b[1], Mul(b[2], x)));
}

static eddy_tensor decay(eddy_tensor x, eddy_tensor height, eddy_tensor rate)
{
    return Mul(height, Exp(Neg(Mul(rate, x))));
}

static eddy_tensor three_exponentials(eddy_tensor x, const eddy_tensor *b)
{
    return Add(decay(x, b[0], b[1]), Add(decay(x, b[2], b[3]), decay(x, b[4], b[5])));
}

/* Of a bell with its height, center and width. */
static eddy_tensor peak(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(b[0], Exp(Neg(Square(Div(Sub(x, b[1]), b[2])))));
}

static eddy_tensor two_bells(eddy_tensor x, const eddy_tensor *b)
{
    return Add(decay(x, b[0], b[1]), Add(peak(x, b + 2), peak(x, b + 5)));
}

static eddy_tensor inverse_square(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(b[0], Sub(1, Pow(Add(1, Mul(0.5, Mul(b[1], x))), -2)));
}

static eddy_tensor inverse_root(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(b[0], Sub(1, eddy_rsqrt(Add(1, Mul(2, Mul(b[1], x))))));
}

static eddy_tensor inverse(eddy_tensor x, const eddy_tensor *b)
{
    const eddy_tensor part = Mul(b[1], x);
    return Div(Mul(b[0], part), Add(1, part));
}

static eddy_tensor other_quotient_of_quadratics(eddy_tensor x, const eddy_tensor *b)
{
    return Div(Add(b[0], Mul(x, Add(b[1], Mul(x, b[2])))),
               Add(1, Mul(x, Add(b[3], Mul(x, b[4])))));
}

/* The logarithm of a strength, by time and then temperature. */
static eddy_tensor degradation(eddy_tensor x, const eddy_tensor *b)
{
    const eddy_tensor time = eddy_index(x, ":128"), heat = eddy_index(x, "128:");
    return Sub(b[0], Mul(Mul(b[1], time), Exp(Neg(Mul(b[2], heat)))));
}

/* With this period, and the factors of cosine and sine. */
static eddy_tensor wave(eddy_tensor x, eddy_tensor period, const eddy_tensor *b)
{
    const eddy_tensor phase = Div(Mul(2 * 3.141592653589793238462643, x), period);
    return Add(Mul(b[0], Cos(phase)), Mul(b[1], Sin(phase)));
}

static eddy_tensor three_cycles(eddy_tensor x, const eddy_tensor *b)
{
    const eddy_tensor year = wave(x, NumberLike(12, x), b + 1);
    return Add(Add(b[0], year), Add(wave(x, b[3], b + 4), wave(x, b[6], b + 7)));
}

static eddy_tensor logistic(eddy_tensor x, const eddy_tensor *b)
{
    return Div(b[0], Add(1, Exp(Sub(b[1], Mul(b[2], x)))));
}

static eddy_tensor shifted_power(eddy_tensor x, const eddy_tensor *b)
{
    return Mul(b[0], Pow(Add(b[1], x), Div(-1, b[2])));
}

/* -------------------------------------------------------------------- data -- */

static const double misra1a_x[] = { 77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8,
                                    477.3, 536.8, 593.1, 689.1, 760.0 };
static const double misra1a_y[] = { 10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76,
                                    55.05, 61.01, 66.40, 75.47, 81.78 };

static const double danwood_x[] = { 1.309, 1.471, 1.490, 1.565, 1.611, 1.680 };
static const double danwood_y[] = { 2.138, 3.421, 3.597, 4.340, 4.882, 5.660 };

static const double roszman1_x[] = {
    -4868.68, -4868.09, -4867.41, -3375.19, -3373.14, -3372.03, -2473.74, -2472.35, -2469.45,
    -1894.65, -1893.40, -1497.24, -1495.85, -1493.41, -1208.68, -1206.18, -1206.04, -997.92,
    -996.61, -996.31, -834.94, -834.66, -710.03, -530.16, -464.17,
};
static const double roszman1_y[] = {
    0.252429, 0.252141, 0.251809, 0.297989, 0.296257, 0.295319, 0.339603, 0.337731, 0.333820,
    0.389510, 0.386998, 0.438864, 0.434887, 0.427893, 0.471568, 0.461699, 0.461144, 0.513532,
    0.506641, 0.505062, 0.535648, 0.533726, 0.568064, 0.612886, 0.624169,
};

static const double mgh17_x[] = {
    0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200,
    210, 220, 230, 240, 250, 260, 270, 280, 290, 300, 310, 320,
};
static const double mgh17_y[] = {
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685,
    0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448,
    0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406,
};

static const double mgh09_x[] = { 4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625 };
static const double mgh09_y[] = { 0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342,
                                  0.0323, 0.0235, 0.0246 };

static const double thurber_x[] = {
    -3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481, -2.363, -2.322,
    -1.501, -1.460, -1.274, -1.212, -1.100, -1.046, -0.915, -0.714, -0.566, -0.545, -0.400, -0.309,
    -0.109, -0.103, 0.010, 0.119, 0.377, 0.790, 0.963, 1.006, 1.115, 1.572, 1.841, 2.047, 2.200,
};
static const double thurber_y[] = {
    80.574, 84.248, 87.264, 87.195, 89.076, 89.608, 89.868, 90.101, 92.405, 95.854, 100.696,
    101.060, 401.672, 390.724, 567.534, 635.316, 733.054, 759.087, 894.206, 990.785, 1090.109,
    1080.914, 1122.643, 1178.351, 1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509,
    1425.208, 1421.384, 1442.962, 1464.350, 1468.705, 1447.894, 1457.628,
};

static const double boxbod_x[] = { 1, 2, 3, 5, 7, 10 };
static const double boxbod_y[] = { 109, 149, 149, 191, 213, 224 };

static const double mgh10_x[] = { 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120,
                                  125 };
static const double mgh10_y[] = { 34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030,
                                  6005, 5147, 4427, 3820, 3307, 2872 };

static const double eckerle4_x[] = {
    400, 405, 410, 415, 420, 425, 430, 435, 436.5, 438, 439.5, 441, 442.5, 444, 445.5, 447, 448.5,
    450, 451.5, 453, 454.5, 456, 457.5, 459, 460.5, 462, 463.5, 465, 470, 475, 480, 485, 490, 495,
    500,
};
static const double eckerle4_y[] = {
    0.0001575, 0.0001699, 0.0002350, 0.0003102, 0.0004917, 0.0008710, 0.0017418, 0.0046400,
    0.0065895, 0.0097302, 0.0149002, 0.0237310, 0.0401683, 0.0712559, 0.1264458, 0.2073413,
    0.2902366, 0.3445623, 0.3698049, 0.3668534, 0.3106727, 0.2078154, 0.1164354, 0.0616764,
    0.0337200, 0.0194023, 0.0117831, 0.0074357, 0.0022732, 0.0008800, 0.0004579, 0.0002345,
    0.0001586, 0.0001143, 0.0000710,
};

static const double rat43_x[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static const double rat43_y[] = { 16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53,
                                  590.03, 651.92, 724.93, 699.56, 689.96, 637.56, 717.41 };

static const double rat42_x[] = { 9, 14, 21, 28, 42, 57, 63, 70, 79 };
static const double rat42_y[] = { 8.93, 10.8, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08 };

static const double lanczos_x[] = { 0,    0.05, 0.1,  0.15, 0.2,  0.25, 0.3,  0.35,
                                    0.4,  0.45, 0.5,  0.55, 0.6,  0.65, 0.7,  0.75,
                                    0.8,  0.85, 0.9,  0.95, 1,    1.05, 1.1,  1.15 };

#define DATA(name) sizeof name##_x / sizeof *name##_x, .x = name##_x, .y = name##_y

const nist_problem nist_problems[] = {
    { "Misra1a", saturation, DATA(misra1a), .parameters = 2,
      .start = { { 500, 0.0001 }, { 250, 0.0005 } },
      .b = { 2.3894212918e+02, 5.5015643181e-04 },
      .deviation = { 2.7070075241e+00, 7.2668688436e-06 }, .sum_of_squares = 1.2455138894e-01 },
    { "DanWood", power, DATA(danwood), .parameters = 2, .start = { { 1, 5 }, { 0.7, 4 } },
      .b = { 7.6886226176e-01, 3.8604055871e+00 },
      .deviation = { 1.8281973860e-02, 5.1726610913e-02 }, .sum_of_squares = 4.3173084083e-03 },
    { "Roszman1", arctangent, DATA(roszman1), .parameters = 4,
      .start = { { 0.1, -0.00001, 1000, -100 }, { 0.2, -0.000005, 1200, -150 } },
      .b = { 2.0196866396e-01, -6.1953516256e-06, 1.2044556708e+03, -1.8134269537e+02 },
      .deviation = { 1.9172666023e-02, 3.2058931691e-06, 7.4050983057e+01, 4.9573513849e+01 },
      .sum_of_squares = 4.9484847331e-04 },
    { "MGH17", two_exponentials, DATA(mgh17), .parameters = 5,
      .start = { { 50, 150, -100, 1, 2 }, { 0.5, 1.5, -1, 0.01, 0.02 } },
      .b = { 3.7541005211e-01, 1.9358469127e+00, -1.4646871366e+00, 1.2867534640e-02,
             2.2122699662e-02 },
      .deviation = { 2.0723153551e-03, 2.2031669222e-01, 2.2175707739e-01, 4.4861358114e-04,
                     8.9471996575e-04 },
      .sum_of_squares = 5.4648946975e-05 },
    { "MGH09", quotient_of_quadratics, DATA(mgh09), .parameters = 4,
      .start = { { 25, 39, 41.5, 39 }, { 0.25, 0.39, 0.415, 0.39 } },
      .b = { 1.9280693458e-01, 1.9128232873e-01, 1.2305650693e-01, 1.3606233068e-01 },
      .deviation = { 1.1435312227e-02, 1.9633220911e-01, 8.0842031232e-02, 9.0025542308e-02 },
      .sum_of_squares = 3.0750560385e-04 },
    { "Thurber", quotient_of_cubics, DATA(thurber), .parameters = 7,
      .start = { { 1000, 1000, 400, 40, 0.7, 0.3, 0.03 }, { 1300, 1500, 500, 75, 1, 0.4, 0.05 } },
      .b = { 1.2881396800e+03, 1.4910792535e+03, 5.8323836877e+02, 7.5416644291e+01,
             9.6629502864e-01, 3.9797285797e-01, 4.9727297349e-02 },
      .deviation = { 4.6647963344e+00, 3.9571156086e+01, 2.8698696102e+01, 5.5675370270e+00,
                     3.1333340687e-02, 1.4984928198e-02, 6.5842344623e-03 },
      .sum_of_squares = 5.6427082397e+03 },
    { "BoxBOD", saturation, DATA(boxbod), .parameters = 2, .start = { { 1, 1 }, { 100, 0.75 } },
      .b = { 2.1380940889e+02, 5.4723748542e-01 },
      .deviation = { 1.2354515176e+01, 1.0455993237e-01 }, .sum_of_squares = 1.1680088766e+03 },
    { "MGH10", exponential_of_quotient, DATA(mgh10), .parameters = 3,
      .start = { { 2, 400000, 25000 }, { 0.02, 4000, 250 } },
      .b = { 5.6096364710e-03, 6.1813463463e+03, 3.4522363462e+02 },
      .deviation = { 1.5687892471e-04, 2.3309021107e+01, 7.8486103508e-01 },
      .sum_of_squares = 8.7945855171e+01 },
    { "Eckerle4", bell, DATA(eckerle4), .parameters = 3,
      .start = { { 1, 10, 500 }, { 1.5, 5, 450 } },
      .b = { 1.5543827178e+00, 4.0888321754e+00, 4.5154121844e+02 },
      .deviation = { 1.5408051163e-02, 4.6803020753e-02, 4.6800518816e-02 },
      .sum_of_squares = 1.4635887487e-03 },
    { "Rat43", growth, DATA(rat43), .parameters = 4,
      .start = { { 100, 10, 1, 1 }, { 700, 5, 0.75, 1.3 } },
      .b = { 6.9964151270e+02, 5.2771253025e+00, 7.5962938329e-01, 1.2792483859e+00 },
      .deviation = { 1.6302297817e+01, 2.0828735829e+00, 1.9566123451e-01, 6.8761936385e-01 },
      .sum_of_squares = 8.7864049080e+03 },
    { "Chwirut1", decay_over_line, .observations = 214, .x = nist_chwirut1_x,
      .y = nist_chwirut1_y, .parameters = 3, .start = { { 0.1, 0.01, 0.02 }, { 0.15, 0.008,
      0.01 } }, .b = { 1.9027818370e-01, 6.1314004477e-03, 1.0530908399e-02 },
      .deviation = { 2.1938557035e-02, 3.4500025051e-04, 7.9281847748e-04 },
      .sum_of_squares = 2.3844771393e+03 },
    { "Chwirut2", decay_over_line, .observations = 54, .x = nist_chwirut2_x,
      .y = nist_chwirut2_y, .parameters = 3, .start = { { 0.1, 0.01, 0.02 }, { 0.15, 0.008,
      0.01 } }, .b = { 1.6657666537e-01, 5.1653291286e-03, 1.2150007096e-02 },
      .deviation = { 3.8303286810e-02, 6.6621605126e-04, 1.5304234767e-03 },
      .sum_of_squares = 5.1304802941e+02 },
    { "Lanczos1", three_exponentials, .exact = true, .observations = 24, .x = lanczos_x,
      .y = nist_lanczos1_y,
      .parameters = 6, .start = { { 1.2, 0.3, 5.6, 5.5, 6.5, 7.6 }, { 0.5, 0.7, 3.6, 4.2, 4,
      6.3 } }, .b = { 9.5100000027e-02, 1.0000000001e+00, 8.6070000013e-01, 3.0000000002e+00,
      1.5575999998e+00, 5.0000000001e+00 }, .deviation = { 5.3347304234e-11, 2.7473038179e-10,
      1.3576062225e-10, 3.3308253069e-10, 1.8815731448e-10, 1.1057500538e-10 },
      .sum_of_squares = 1.4307867721e-25 },
    { "Lanczos2", three_exponentials, .observations = 24, .x = lanczos_x, .y = nist_lanczos2_y,
      .parameters = 6, .start = { { 1.2, 0.3, 5.6, 5.5, 6.5, 7.6 }, { 0.5, 0.7, 3.6, 4.2, 4,
      6.3 } }, .b = { 9.6251029939e-02, 1.0057332849e+00, 8.6424689056e-01, 3.0078283915e+00,
      1.5529016879e+00, 5.0028798100e+00 }, .deviation = { 6.6770575477e-04, 3.3989646176e-03,
      1.7185846685e-03, 4.1707005856e-03, 2.3744381417e-03, 1.3958787284e-03 },
      .sum_of_squares = 2.2299428125e-11 },
    { "Lanczos3", three_exponentials, .observations = 24, .x = lanczos_x, .y = nist_lanczos3_y,
      .parameters = 6, .start = { { 1.2, 0.3, 5.6, 5.5, 6.5, 7.6 }, { 0.5, 0.7, 3.6, 4.2, 4,
      6.3 } }, .b = { 8.6816414977e-02, 9.5498101505e-01, 8.4400777463e-01, 2.9515951832e+00,
      1.5825685901e+00, 4.9863565084e+00 }, .deviation = { 1.7197908859e-02, 9.7041624475e-02,
      4.1488663282e-02, 1.0766312506e-01, 5.8371576281e-02, 3.4436403035e-02 },
      .sum_of_squares = 1.6117193594e-08 },
    { "Gauss1", two_bells, .observations = 250, .y = nist_gauss1_y, .parameters = 8,
      .start = { { 97, 0.009, 100, 65, 20, 70, 178, 16.5 }, { 94, 0.0105, 99, 63, 25, 71, 180,
      20 } }, .b = { 9.8778210871e+01, 1.0497276517e-02, 1.0048990633e+02, 6.7481111276e+01,
      2.3129773360e+01, 7.1994503004e+01, 1.7899805021e+02, 1.8389389025e+01 },
      .deviation = { 5.7527312730e-01, 1.1406289017e-04, 5.8831775752e-01, 1.0460593412e-01,
      1.7439951146e-01, 6.2622793913e-01, 1.2436988217e-01, 2.0134312832e-01 },
      .sum_of_squares = 1.3158222432e+03 },
    { "Gauss2", two_bells, .observations = 250, .y = nist_gauss2_y, .parameters = 8,
      .start = { { 96, 0.009, 103, 106, 18, 72, 151, 18 }, { 98, 0.0105, 103, 105, 20, 73, 150,
      20 } }, .b = { 9.9018328406e+01, 1.0994945399e-02, 1.0188022528e+02, 1.0703095519e+02,
      2.3578584029e+01, 7.2045589471e+01, 1.5327010194e+02, 1.9525972636e+01 },
      .deviation = { 5.3748766879e-01, 1.3335306766e-04, 5.9217315772e-01, 1.5006798316e-01,
      2.2695595067e-01, 6.1721965884e-01, 1.9466674341e-01, 2.6416549393e-01 },
      .sum_of_squares = 1.2475282092e+03 },
    { "Gauss3", two_bells, .observations = 250, .y = nist_gauss3_y, .parameters = 8,
      .start = { { 94.9, 0.009, 90.1, 113, 20, 73.8, 140, 20 }, { 96, 0.0096, 80, 110, 25, 74,
      139, 25 } }, .b = { 9.8940368970e+01, 1.0945879335e-02, 1.0069553078e+02, 1.1163619459e+02,
      2.3300500029e+01, 7.3705031418e+01, 1.4776164251e+02, 1.9668221230e+01 },
      .deviation = { 5.3005192833e-01, 1.2554058911e-04, 8.1256587317e-01, 3.5317859757e-01,
      3.6584783023e-01, 1.2091239082e+00, 4.0488183351e-01, 3.7806634336e-01 },
      .sum_of_squares = 1.2444846360e+03 },
    { "Misra1b", inverse_square, DATA(misra1a), .parameters = 2, .start = { { 500, 0.0001 },
      { 300, 0.0002 } }, .b = { 3.3799746163e+02, 3.9039091287e-04 },
      .deviation = { 3.1643950207e+00, 4.2547321834e-06 }, .sum_of_squares = 7.5464681533e-02 },
    { "Misra1c", inverse_root, DATA(misra1a), .parameters = 2, .start = { { 500, 0.0001 },
      { 600, 0.0002 } }, .b = { 6.3642725809e+02, 2.0813627256e-04 },
      .deviation = { 4.6638326572e+00, 1.7728423155e-06 }, .sum_of_squares = 4.0966836971e-02 },
    { "Misra1d", inverse, DATA(misra1a), .parameters = 2, .start = { { 500, 0.0001 }, { 450,
      0.0003 } }, .b = { 4.3736970754e+02, 3.0227324449e-04 }, .deviation = { 3.6489174345e+00,
      2.9334354479e-06 }, .sum_of_squares = 5.6419295283e-02 },
    { "Kirby2", other_quotient_of_quadratics, .observations = 151, .x = nist_kirby2_x,
      .y = nist_kirby2_y, .parameters = 5, .start = { { 2, -0.1, 0.003, -0.001, 1e-05 }, { 1.5,
      -0.15, 0.0025, -0.0015, 2e-05 } }, .b = { 1.6745063063e+00, -1.3927397867e-01,
      2.5961181191e-03, -1.7241811870e-03, 2.1664802578e-05 }, .deviation = { 8.7989634338e-02,
      4.1182041386e-03, 4.1856520458e-05, 5.8931897355e-05, 2.0129761919e-07 },
      .sum_of_squares = 3.9050739624e+00 },
    { "Hahn1", quotient_of_cubics, .observations = 236, .x = nist_hahn1_x, .y = nist_hahn1_y,
      .parameters = 7, .start = { { 10, -1, 0.05, -1e-05, -0.05, 0.001, -1e-06 }, { 1, -0.1,
      0.005, -1e-06, -0.005, 0.0001, -1e-07 } }, .b = { 1.0776351733e+00, -1.2269296921e-01,
      4.0863750610e-03, -1.4262662514e-06, -5.7609940901e-03, 2.4053735503e-04,
      -1.2314450199e-07 }, .deviation = { 1.7070154742e-01, 1.2000289189e-02, 2.2508314937e-04,
      2.7578037666e-07, 2.4712888219e-04, 1.0449373768e-05, 1.3027335327e-08 },
      .sum_of_squares = 1.5324382854e+00 },
    { "Nelson", degradation, .observations = 128, .x = nist_nelson_x, .y = nist_nelson_y,
      .parameters = 3, .predictors = 2, .of_logarithm = true, .start = { { 2, 0.0001, -0.01 },
      { 2.5, 5e-09, -0.05 } }, .b = { 2.5906836021e+00, 5.6177717026e-09, -5.7701013174e-02 },
      .deviation = { 1.9149996413e-02, 6.1124096540e-09, 3.9572366543e-03 },
      .sum_of_squares = 3.7976833176e+00 },
    { "ENSO", three_cycles, .observations = 168, .y = nist_enso_y, .parameters = 9,
      .start = { { 11, 3, 0.5, 40, -0.7, -1.3, 25, -0.3, 1.4 }, { 10, 3, 0.5, 44, -1.5, 0.5, 26,
      -0.1, 1.5 } }, .b = { 1.0510749193e+01, 3.0762128085e+00, 5.3280138227e-01,
      4.4311088700e+01, -1.6231428586e+00, 5.2554493756e-01, 2.6887614440e+01, 2.1232288488e-01,
      1.4966870418e+00 }, .deviation = { 1.7488832467e-01, 2.4310052139e-01, 2.4354686618e-01,
      9.4408025976e-01, 2.8078369611e-01, 4.8073701119e-01, 4.1612939130e-01, 5.1460022911e-01,
      2.5434468893e-01 }, .sum_of_squares = 7.8853978668e+02 },
    { "Rat42", logistic, DATA(rat42), .parameters = 3, .start = { { 100, 1, 0.1 }, { 75, 2.5,
      0.07 } }, .b = { 7.2462237576e+01, 2.6180768402e+00, 6.7359200066e-02 },
      .deviation = { 1.7340283401e+00, 8.8295217536e-02, 3.4465663377e-03 },
      .sum_of_squares = 8.0565229338e+00 },
    { "Bennett5", shifted_power, .observations = 154, .x = nist_bennett5_x,
      .y = nist_bennett5_y, .parameters = 3, .start = { { -2000, 50, 0.8 }, { -1500, 45, 0.85 } },
      .b = { -2.5235058043e+03, 4.6736564644e+01, 9.3218483193e-01 },
      .deviation = { 2.9715175411e+02, 1.2448871856e+00, 2.0272299378e-02 },
      .sum_of_squares = 5.2404744073e-04 },
};
const int nist_problem_count = sizeof nist_problems / sizeof *nist_problems;
