/* test_layers_attention.c -- multi-head attention and transformer blocks against PyTorch's. */
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>

Suite *layers_attention_suite(void);

static const eddy_dtype F64 = EDDY_FLOAT64;
enum { B = 2, S = 3, N = 4, T = 4 };

/* ----------------------------------------------------------- PyTorch's numbers -- */

/* Made with PyTorch 1.13.1, float64: element k of x is ((7 k + 2) % 11 - 5) / 8, of the memory
 * that with 3 for 2, of each kernel that with 1; biases are 0.  nn.MultiheadAttention(4, 2) has
 * the transposed kernels as in_proj_weight and out_proj.weight, of a memory with three numbers
 * a place as q_proj_weight, k_proj_weight, v_proj_weight.  The gradient is that of sum(y g), g
 * that with 5.  Padding hides the last place of the first sequence, and all except the first of
 * the second one's memory.  nn.TransformerEncoderLayer(4, 2, 5) is causal, without and with
 * norm_first, nn.TransformerDecoderLayer(4, 2, 5) has tanh in place of relu. */
static const double want_self[] = {
    0.07840105674908029, -0.05122982839409503, -0.2354649690936845, 0.02841653581787681,
    -0.01453997198966108, 0.02742513221791693, -0.3348001515104975, -0.06532722847401622,
    0.08488320308200853, -0.05423731961265901, -0.2416964411283048, 0.03330248388933202,
    0.1262782224460277, -0.1619518181803418, 0.4594604225780472, 0.1569864214175304,
    0.1381292497529257, -0.2054756616101023, 0.4974252671324298, 0.1922745995579914,
    0.1267242424906841, -0.1587562211963782, 0.4583008003440894, 0.1544283711718543,
};
static const double want_self_dx[] = {
    0.1110743067469521, 0.002386064927207616, -0.08152184760881187, 0.1501374264735884,
    0.2930995902108216, -0.1541005623040648, -0.09262685407582115, 0.3037013764226702,
    0.1073270155570533, -0.003290133236863675, -0.06209524582026781, 0.1489965170005979,
    -0.01548820696394379, -0.03551083101602855, 0.1394574415023661, -0.01983419261682467,
    -0.04877720720010559, -0.1443511944545726, 0.2522983477189021, -0.1310469931266166,
    0.001833065996340894, -0.05167367282416192, 0.1380976113636967, -0.003053639658834907,
};
static const double want_causal[] = {
    -0.0859375, 0.154296875, -0.744140625, -0.181640625,
    0.03074434706407576, -0.03187470730359085, -0.1631635444708069, -0.005667638102461292,
    0.08488320308200853, -0.05423731961265901, -0.2416964411283048, 0.03330248388933202,
    0.27734375, -0.365234375, 0.7109375, 0.326171875,
    0.06396850262354467, -0.09966399533509096, 0.3241439028668376, 0.1061425390426761,
    0.1267242424906841, -0.1587562211963782, 0.4583008003440894, 0.1544283711718543,
};
static const double want_padded[] = {
    0.145335209937582, -0.1289397851700328, -0.04036242212543681, 0.109971686196725,
    0.03074434706407576, -0.03187470730359085, -0.1631635444708069, -0.005667638102461292,
    0.1526307182781758, -0.1318774242407289, -0.04946951037442481, 0.1151725603952307,
    0.1262782224460277, -0.1619518181803418, 0.4594604225780472, 0.1569864214175304,
    0.1381292497529257, -0.2054756616101023, 0.4974252671324298, 0.1922745995579914,
    0.1267242424906841, -0.1587562211963782, 0.4583008003440894, 0.1544283711718543,
};
static const double want_both[] = {
    -0.0859375, 0.154296875, -0.744140625, -0.181640625,
    0.03074434706407576, -0.03187470730359085, -0.1631635444708069, -0.005667638102461292,
    0.1526307182781758, -0.1318774242407289, -0.04946951037442481, 0.1151725603952307,
    0.27734375, -0.365234375, 0.7109375, 0.326171875,
    0.06396850262354467, -0.09966399533509096, 0.3241439028668376, 0.1061425390426761,
    0.1267242424906841, -0.1587562211963782, 0.4583008003440894, 0.1544283711718543,
};
static const double want_cross[] = {
    0.2093966919671804, -0.2685475357913467, 0.01569278349525362, 0.2608655092310262,
    0.2092682342638573, -0.2684227695771146, 0.01490432424471859, 0.2606233597807436,
    0.2091396660622375, -0.2682979123695621, 0.01411567665540206, 0.2603810673537736,
    -0.25, 0.302734375, -0.08984375, -0.2890625,
    -0.25, 0.302734375, -0.08984375, -0.2890625,
    -0.25, 0.302734375, -0.08984375, -0.2890625,
};
static const double want_post[] = {
    -0.4910753675529353, 1.583158398522194, 0.02671720642750441, -1.118800237396763,
    1.208166535436389, -0.06111904618126824, -1.542713616030377, 0.3956661267752561,
    -0.5585469724115127, 1.467181511814487, 0.2948726116912283, -1.203507151094202,
    1.012642204881398, -1.494792508590855, -0.3174372970827393, 0.7995876007921963,
    0.0184167767857443, -1.240669000328823, 1.536706240547959, -0.3144540170048803,
    1.129305614466587, -1.158078669004513, -0.8171989097743992, 0.8459719643123248,
};
static const double want_pre[] = {
    -0.5845831207461027, 1.461951078446581, -0.4618314511208579, -1.338752281822991,
    0.02553131331323777, 0.767832896688969, -0.653880810665223, -0.6048448566248763,
    0.6506921378569446, 0.1003952269725356, 0.2005948775849221, 0.2707406229832824,
    1.067021143094267, -0.6767157731843036, 0.9259440551329465, 0.9327471467722246,
    0.1892924512194935, -1.022166682206447, 1.206859042832182, 0.08174403385998241,
    0.771366452710366, 0.004453549281277946, 0.7924399219077597, 0.5642459932973782,
};
static const double want_decoder[] = {
    -0.5085592602138865, 1.630990307049008, -0.08621165467857685, -1.036219392156545,
    1.204387297455553, -0.3977758409694888, -1.419633334103894, 0.6130218776178301,
    -0.6085763726182386, 1.445535441952785, 0.3528074875484314, -1.189766556882978,
    0.9664793653341974, -1.374459876433244, -0.5354421754297551, 0.9434226865288012,
    0.3479875005007139, -1.664488263099171, 1.005905627902879, 0.3105951346955786,
    1.073743639996261, -1.199695270137319, -0.7736361551096194, 0.8995877852506768,
};

/* An eddy_initializer_fn. */
static eddy_tensor numbers(eddy_graph *g, eddy_dtype dtype, eddy_shape s, int64_t seed)
{
    (void)dtype, (void)seed;
    return layers_filled(g, s, 1);
}

static const eddy_init filled = { .build = numbers };

/* Batch and length known or not. */
static eddy_tensor input(eddy_graph *g, int64_t n, bool open)
{
    return eddy_placeholder(g, "x", F64, open ? EDDY_SHAPE(EDDY_ANY, EDDY_ANY, n)
                                              : EDDY_SHAPE(B, S, n));
}

static void close_to(eddy_tensor y, eddy_tensor x, const double *want)
{
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, S, N), 2);
    layers_close(y, EDDY_FEED({ x, in }), B * S * N, want);
    eddy_array_free(in);
}

/* ---------------------------------------------------------------- attention -- */

START_TEST(self_attention)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, _i);
    eddy_tensor y = eddy_multi_head_attention(x, 2, .kernel_initializer = filled);
    eddy_tensor lengths = eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), (int32_t[]){ 2, 3 });
    eddy_tensor causal = eddy_multi_head_attention(x, 2, .causal = true, .reuse = "attention");
    eddy_tensor padded = eddy_multi_head_attention(x, 2, .lengths = lengths, .reuse = "attention");
    eddy_tensor both = eddy_multi_head_attention(x, 2, .lengths = lengths, .causal = true,
                                                 .reuse = "attention");
    eddy_tensor w = layers_filled(g, EDDY_SHAPE(B, S, N), 5);
    layers_fit(y, eddy_shape_of(x), NULL);
    layers_variable(g, "attention/qkv/kernel", EDDY_SHAPE(N, 3 * N));
    layers_variable(g, "attention/qkv/bias", EDDY_SHAPE(3 * N));
    layers_variable(g, "attention/attention_output/kernel", EDDY_SHAPE(N, N));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 4);
    close_to(y, x, want_self);
    close_to(eddy_gradient(Sum(Mul(y, w)), x), x, want_self_dx);
    close_to(causal, x, want_causal);
    close_to(padded, x, want_padded);
    close_to(both, x, want_both);
    eddy_graph_free(g);
}
END_TEST

/* A mask of bools, one of numbers, and a triangle do what causal does; so does the way with
 * stored probabilities, with a rate of dropout that drops nothing. */
START_TEST(masks)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, _i);
    const bool  seen[S * S] = { 1, 0, 0, 1, 1, 0, 1, 1, 1 };
    const double inf = INFINITY, add[S * S] = { 0, -inf, -inf, 0, 0, -inf, 0, 0, 0 };
    eddy_tensor yes = eddy_const(g, EDDY_BOOL, EDDY_SCALAR, &(bool){ true });
    eddy_tensor a = eddy_multi_head_attention(
        x, 2, .mask = eddy_const(g, EDDY_BOOL, EDDY_SHAPE(S, S), seen),
        .kernel_initializer = filled);
    eddy_tensor b = eddy_multi_head_attention(
        x, 2, .reuse = "attention", .mask = eddy_const(g, F64, EDDY_SHAPE(S, S), add));
    eddy_tensor c = eddy_multi_head_attention(x, 2, .reuse = "attention", .causal = true,
                                              .dropout = 1e-300, .training_when = yes);
    close_to(a, x, want_causal);
    close_to(b, x, want_causal);
    close_to(c, x, want_causal);
    eddy_graph_free(g);
}
END_TEST

START_TEST(cross_attention)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, false);
    eddy_tensor m = eddy_placeholder_with_default(layers_filled(g, EDDY_SHAPE(B, T, 3), 3), "m",
                                                  _i ? EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 3)
                                                     : EDDY_SHAPE(B, T, 3));
    eddy_tensor lengths = eddy_const(g, EDDY_INT64, EDDY_SHAPE(B), (int64_t[]){ 4, 1 });
    eddy_tensor y = eddy_multi_head_attention(x, 2, .memory = m, .lengths = lengths,
                                              .kernel_initializer = filled);
    layers_variable(g, "attention/query/kernel", EDDY_SHAPE(N, N));
    layers_variable(g, "attention/key_value/kernel", EDDY_SHAPE(3, 2 * N));
    close_to(y, x, want_cross);
    eddy_graph_free(g);
}
END_TEST

/* Gradients of all paths: packed, masked, and with stored probabilities. */
START_TEST(attention_gradients)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, _i == 1), none = { 0 };
    eddy_tensor lengths = eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), (int32_t[]){ 2, 3 });
    eddy_tensor y = eddy_multi_head_attention(x, 2, .units = 6, .causal = _i == 0, .seed = 3,
                                              .lengths = _i == 1 ? lengths : none,
                                              .dropout = 1e-300, .training = _i == 2);
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, S, N), 2);
    layers_check(y, x, in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

START_TEST(attention_refusals)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, true);
    eddy_tensor f = eddy_placeholder(g, "f", EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1));
    eddy_multi_head_attention(x, 3);
    fails(g, EDDY_INVALID_ARGUMENT, "attention: heads is 3; expected a divisor of units, 4");
    eddy_multi_head_attention(x, 0);
    fails(g, EDDY_INVALID_ARGUMENT, "attention: heads is 0; it must be positive");
    eddy_multi_head_attention(eddy_sum(x, EDDY_AXES(0)), 2);
    fails(g, EDDY_BAD_SHAPE, "attention: x has shape [?,4]; it must have rank 3");
    ck_assert(!eddy_is_valid(eddy_multi_head_attention(x, 2, .memory = f)));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_BAD_DTYPE);
    eddy_graph_clear_error(g);
    ck_assert(!eddy_is_valid(eddy_multi_head_attention(EDDY_NO_TENSOR, 2)));
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ positions -- */

START_TEST(positions)
{
    enum { LENGTH = 5, UNITS = 3 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, UNITS));
    eddy_tensor fixed = eddy_ones(g, F64, EDDY_SHAPE(1, LENGTH, UNITS));
    eddy_array *in = eddy_array_new(F64, EDDY_SHAPE(2, 4, UNITS));
    double      want[LENGTH * UNITS], twice[2 * 4 * UNITS];
    for (int i = 0; i < LENGTH; i++)
        for (int k = 0; k < UNITS; k++) {
            const double angle = i / pow(10000, k / 2 * 2 / 3.0);
            want[i * UNITS + k] = k % 2 ? cos(angle) : sin(angle);
        }
    for (int i = 0; i < 24; i++) twice[i] = want[i % 12];
    layers_close(eddy_sinusoidal_positions(g, LENGTH, UNITS, F64), EDDY_FEED(), 15, want);
    eddy_tensor y = eddy_position_layer(x, 7), z = eddy_position_layer(fixed);
    layers_fit(y, eddy_shape_of(x), NULL);
    layers_close(y, EDDY_FEED({ x, in }), 24, twice);
    layers_close(Sub(z, 1), EDDY_FEED(), 15, want);
    eddy_tensor l = eddy_position_layer(x, 7, .learned = true);
    layers_variable(g, "positions_2/embeddings", EDDY_SHAPE(7, UNITS));
    layers_check(l, x, in);
    eddy_tensor again = eddy_position_layer(fixed, 7, .learned = true, .reuse = "positions_2");
    ck_assert(eddy_is_valid(again));
    eddy_position_layer(fixed, 4);
    fails(g, EDDY_INVALID_ARGUMENT, "max_length is 4, but a sequence has length 5");
    eddy_position_layer(x);
    fails(g, EDDY_INVALID_ARGUMENT, "positions: the sequence length of x is unknown");
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* --------------------------------------------------------------------- blocks -- */

static eddy_tensor block(eddy_tensor x, bool pre_norm, const char *reuse)
{
    return eddy_transformer_block(x, 2, .hidden = 5, .causal = true, .pre_norm = pre_norm,
                                  .kernel_initializer = filled, .reuse = reuse);
}

START_TEST(encoder_blocks)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, _i);
    eddy_tensor y = block(x, false, NULL);
    layers_fit(y, eddy_shape_of(x), NULL);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 12);
    layers_variable(g, "transformer_block/attention/qkv/kernel", EDDY_SHAPE(N, 3 * N));
    layers_variable(g, "transformer_block/feed_forward/dense/kernel", EDDY_SHAPE(N, 5));
    layers_variable(g, "transformer_block/feed_forward/dense_1/bias", EDDY_SHAPE(N));
    layers_variable(g, "transformer_block/layer_norm/gamma", EDDY_SHAPE(N));
    layers_variable(g, "transformer_block/layer_norm_1/beta", EDDY_SHAPE(N));
    close_to(y, x, want_post);
    close_to(block(x, true, "transformer_block"), x, want_pre);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 12);
    eddy_graph_free(g);
}
END_TEST

START_TEST(decoder_block)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, true), m = layers_filled(g, EDDY_SHAPE(B, T, N), 3);
    eddy_tensor y = eddy_transformer_block(x, 2, "b", 5, m, true, .activation = eddy_tanh,
                                           .kernel_initializer = filled);
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, S, N), 2);
    close_to(y, x, want_decoder);
    layers_variable(g, "b/cross_attention/key_value/kernel", EDDY_SHAPE(N, 2 * N));
    layers_variable(g, "b/layer_norm_2/gamma", EDDY_SHAPE(N));
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* Smooth activations, away from the corners of relu. */
START_TEST(block_gradients)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = input(g, N, true);
    eddy_tensor y = eddy_transformer_block(x, 2, .hidden = 3, .pre_norm = _i, .seed = 7,
                                           .activation = eddy_tanh, .causal = true);
    eddy_array *in = layers_numbers(EDDY_SHAPE(1, 2, N), 2);
    layers_check(y, x, in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* Which of the four tokens came first?  All places are asked. */
START_TEST(finds_the_first)
{
    enum { ROWS = 16, LENGTH = 4, TOKENS = 4 };
    eddy_graph *g = eddy_graph_new(.seed = 2);
    int32_t     ids[ROWS * LENGTH], first[ROWS * LENGTH];
    for (int i = 0; i < ROWS * LENGTH; i++) {
        ids[i] = (i * 7 + i / LENGTH * 3 + i / 16) % TOKENS;
        first[i] = ids[i / LENGTH * LENGTH];
    }
    eddy_tensor x = eddy_const(g, EDDY_INT32, EDDY_SHAPE(ROWS, LENGTH), ids);
    eddy_tensor y = eddy_const(g, EDDY_INT32, EDDY_SHAPE(ROWS, LENGTH), first);
    eddy_tensor h = eddy_position_layer(eddy_embedding_layer(x, TOKENS, 8), .learned = true);
    h = eddy_transformer_block(h, 2, .hidden = 16, .pre_norm = _i, .dropout = 0.05,
                               .attention_dropout = 0.05, .training = true);
    eddy_tensor logits = eddy_dense(h, TOKENS, "logits");
    layers_learn(Mean(eddy_sparse_softmax_cross_entropy(y, logits)), EDDY_FEED(), 150, 0.02, 0.1);
    eddy_graph_free(g);
}
END_TEST

Suite *layers_attention_suite(void)
{
    Suite *suite = suite_create("layers_attention");
    TCase *t = tcase_create("layers");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, self_attention, 0, 2);
    tcase_add_loop_test(t, masks, 0, 2);
    tcase_add_loop_test(t, cross_attention, 0, 2);
    tcase_add_loop_test(t, attention_gradients, 0, 3);
    tcase_add_test(t, attention_refusals);
    tcase_add_test(t, positions);
    tcase_add_loop_test(t, encoder_blocks, 0, 2);
    tcase_add_test(t, decoder_block);
    tcase_add_loop_test(t, block_gradients, 0, 2);
    tcase_add_loop_test(t, finds_the_first, 0, 2);
    suite_add_tcase(suite, t);
    return suite;
}
