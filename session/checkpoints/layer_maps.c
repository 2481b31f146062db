/* layer_maps.c -- the names and layouts that PyTorch and Keras have for layers.
 *
 * The gates of recurrent cells: layers/rnn_weights.h has the table of their orders. */
#include "session/checkpoint.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

enum { FORGET_GATE = 1 };

/* A layer of attention has this beside its projections, so others may be called `query`. */
#define ATTENTION "**/attention_output/kernel"

/* --------------------------------------------------------------- PyTorch -- */

/* In the scope SCOPE of a cell, for entries that end in END. */
#define TORCH_LSTM(SCOPE, END)                                                        \
    { { SCOPE "lstm_cell/kernel" },                                                    \
      { "**.weight_ih_" END, "**.weight_hh_" END },                                         \
      .axes = "i o -> o i", .parts = 4, .state = SCOPE "lstm_cell/projection/kernel" }, \
    { { SCOPE "lstm_cell/bias" }, { "**.bias_ih_" END, "**.bias_hh_" END },            \
      .parts = 4, .added = 4, .forget_part = 1 + FORGET_GATE },                             \
    { { SCOPE "lstm_cell/projection/kernel" }, { "**.weight_hr_" END },                \
      .axes = "i o -> o i" }
#define TORCH_GRU(SCOPE, END)                                                         \
    { { SCOPE "gru_cell/gates/kernel", SCOPE "gru_cell/candidate/kernel" },       \
      { "**.weight_ih_" END, "**.weight_hh_" END },                                         \
      .axes = "i o -> o i", .variables_axis = 1, .parts = 3, .state = "" },                 \
    { { SCOPE "gru_cell/gates/bias", SCOPE "gru_cell/candidate/bias",             \
        SCOPE "gru_cell/candidate/recurrent_bias" },                                   \
      { "**.bias_ih_" END, "**.bias_hh_" END }, .parts = 3, .added = 2 }
#define TORCH_RNN(SCOPE, END)                                                         \
    { { SCOPE "basic_rnn_cell/kernel" },                                               \
      { "**.weight_ih_" END, "**.weight_hh_" END },                                         \
      .axes = "i o -> o i", .parts = 1, .state = "" },                                      \
    { { SCOPE "basic_rnn_cell/bias" }, { "**.bias_ih_" END, "**.bias_hh_" END },       \
      .parts = 1, .added = 1 }
#define TORCH_CELLS(SCOPE, END) \
    TORCH_LSTM(SCOPE, END), TORCH_GRU(SCOPE, END), TORCH_RNN(SCOPE, END)

static const eddy_checkpoint_rule torch_rules[] = {
    { { "**/qkv/kernel" }, { "**.in_proj_weight" }, .axes = "i o -> o i" },
    { .variables = { "**/qkv/bias" }, .entries = { "**.in_proj_bias" } },
    { { "**/query/kernel", "**/key_value/kernel" }, { "**.in_proj_weight" },
      .axes = "i o -> o i", .variables_axis = 1, .equal = true, .beside = ATTENTION },
    { { "**/query/kernel", "**/keys/kernel", "**/values/kernel" }, { "**.in_proj_weight" },
      .axes = "i o -> o i", .variables_axis = 1, .equal = true, .beside = ATTENTION },
    { { "**/query/kernel" }, { "**.q_proj_weight" }, .axes = "i o -> o i", .beside = ATTENTION },
    { { "**/key_value/kernel" }, { "**.k_proj_weight", "**.v_proj_weight" },
      .axes = "i o -> o i", .entries_axis = 1, .beside = ATTENTION },
    { { "**/keys/kernel" }, { "**.k_proj_weight" }, .axes = "i o -> o i", .beside = ATTENTION },
    { { "**/values/kernel" }, { "**.v_proj_weight" }, .axes = "i o -> o i", .beside = ATTENTION },
    { { "**/query/bias", "**/key_value/bias" }, { "**.in_proj_bias" }, .beside = ATTENTION },
    { { "**/query/bias", "**/keys/bias", "**/values/bias" }, { "**.in_proj_bias" },
      .beside = ATTENTION },
    { { "**/attention_output/kernel" }, { "**.out_proj.weight" }, .axes = "i o -> o i" },
    { .variables = { "**/attention_output/bias" }, .entries = { "**.out_proj.bias" } },

    TORCH_CELLS("**/cell_*/", "l*"),
    TORCH_CELLS("**/fw/", "l0"),
    TORCH_CELLS("**/bw/", "l0_reverse"),
    TORCH_CELLS("**/", "l0"),

    { { "**/depthwise_kernel" }, { "**.depthwise.weight" }, .axes = "h w c m -> (c m) 1 h w" },
    { { "**/pointwise_kernel" }, { "**.pointwise.weight" }, .axes = "h w i o -> o i h w" },
    { { "**/kernel" }, { "**.weight" }, .axes = "i o -> o i" },
    { { "**/kernel" }, { "**.weight" }, .axes = "w i o -> o i w" },
    { { "**/kernel" }, { "**.weight" }, .axes = "h w i o -> o i h w" },
    { { "**/kernel" }, { "**.weight" }, .axes = "d h w i o -> o i d h w" },
    { .variables = { "**/gamma" }, .entries = { "**.weight" } },
    { .variables = { "**/beta" }, .entries = { "**.bias" } },
    { .variables = { "**/bias" }, .entries = { "**.bias" } },
    { .variables = { "**/moving_mean" }, .entries = { "**.running_mean" } },
    { .variables = { "**/moving_variance" }, .entries = { "**.running_var" } },
    { .variables = { "**/embeddings" }, .entries = { "**.weight" } },
    { .variables = { "**" }, .entries = { "**" } },
};

eddy_checkpoint_map eddy_torch_map(void)
{
    return (eddy_checkpoint_map){ .rules = torch_rules, .n_rules = COUNT(torch_rules),
                                  .separator = ".", .forget_bias = 1 };
}

/* ----------------------------------------------------------------- Keras -- */

/* A layer's cell, whatever its scope is called, has its weights in the layer's scope. */
#define KERAS_CELLS(SCOPE)                                                                  \
    { { SCOPE "lstm_cell/kernel" }, { "**/kernel", "**/recurrent_kernel" }, .parts = 4,     \
      .state = "" },                                                                        \
    { { SCOPE "lstm_cell/bias" }, { "**/bias" }, .parts = 4, .forget_part = 1 + FORGET_GATE }, \
    { { SCOPE "gru_cell/gates/kernel", SCOPE "gru_cell/candidate/kernel" },                 \
      { "**/kernel", "**/recurrent_kernel" },                                               \
      .variables_axis = 1, .parts = 3, .order = { 1, 0, 2 }, .state = "" },                 \
    { { SCOPE "gru_cell/gates/bias", SCOPE "gru_cell/candidate/bias",                       \
        SCOPE "gru_cell/candidate/recurrent_bias" },                                        \
      { "**/bias" }, .parts = 3, .order = { 1, 0, 2 }, .added = 2, .rows = 2 },             \
    { { SCOPE "gru_cell/gates/bias", SCOPE "gru_cell/candidate/bias" }, { "**/bias" },      \
      .parts = 3, .order = { 1, 0, 2 } },                                                   \
    { { SCOPE "basic_rnn_cell/kernel" }, { "**/kernel", "**/recurrent_kernel" },            \
      .parts = 1, .state = "" },                                                            \
    { .variables = { SCOPE "basic_rnn_cell/bias" }, .entries = { "**/bias" } }

static const eddy_checkpoint_rule keras_rules[] = {
    { { "**/qkv/kernel" }, { "**/query/kernel", "**/key/kernel", "**/value/kernel" },
      .axes = "n (heads d) -> n heads d", .entries_axis = 1 },
    { { "**/qkv/bias" }, { "**/query/bias", "**/key/bias", "**/value/bias" },
      .axes = "(heads d) -> heads d" },
    { { "**/query/kernel" }, { "**/query/kernel" }, .axes = "n (heads d) -> n heads d",
      .beside = ATTENTION },
    { { "**/query/bias" }, { "**/query/bias" }, .axes = "(heads d) -> heads d",
      .beside = ATTENTION },
    { { "**/keys/kernel" }, { "**/key/kernel" }, .axes = "n (heads d) -> n heads d",
      .beside = ATTENTION },
    { { "**/keys/bias" }, { "**/key/bias" }, .axes = "(heads d) -> heads d", .beside = ATTENTION },
    { { "**/values/kernel" }, { "**/value/kernel" }, .axes = "n (heads d) -> n heads d",
      .beside = ATTENTION },
    { { "**/values/bias" }, { "**/value/bias" }, .axes = "(heads d) -> heads d",
      .beside = ATTENTION },
    { { "**/key_value/kernel" }, { "**/key/kernel", "**/value/kernel" },
      .axes = "n (heads d) -> n heads d", .entries_axis = 1 },
    { { "**/key_value/bias" }, { "**/key/bias", "**/value/bias" },
      .axes = "(heads d) -> heads d" },
    { { "**/attention_output/kernel" }, { "**/attention_output/kernel" },
      .axes = "(heads d) n -> heads d n" },
    KERAS_CELLS("**/"),
    { .variables = { "**" }, .entries = { "**" } },
};

eddy_checkpoint_map eddy_keras_map(void)
{
    return (eddy_checkpoint_map){ .rules = keras_rules, .n_rules = COUNT(keras_rules),
                                  .separator = "/", .forget_bias = 1 };
}
