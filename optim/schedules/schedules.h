/* schedules.h -- learning rate schedules: learning rates that are functions of the global step.
 *
 * A schedule is a scalar tensor, computed in each run from the value of the global step before
 * that run. Pass it to an optimizer as its learning rate. All of its operands may be tensors:
 * constants (eddy_scalar), placeholders, other schedules. It is computed in the type of
 * learning_rate, to which the others are cast.
 *
 * Errors of each: EDDY_INVALID_ARGUMENT without a global step ("global_step is required for
 * exponential_decay.") or another required operand; EDDY_BAD_DTYPE for a rate that is not floating;
 * EDDY_BAD_SHAPE for an operand that is not a scalar. */
#ifndef EDDY_OPTIM_SCHEDULES_SCHEDULES_H
#define EDDY_OPTIM_SCHEDULES_SCHEDULES_H

#include "../optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Below, lr is learning_rate, s the global step, D decay_steps, f = s / D. */

/* ------------------------------------------- of tf.train's learning_rate_decay -- */

typedef struct eddy_decay_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_decay_args));
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required; any number */
    eddy_tensor decay_steps;         /* required */
    eddy_tensor decay_rate;          /* required */
    bool        staircase;           /* f is floor(s / D) */
    const char *name;
} eddy_decay_args;
/* lr decay_rate^f.  tf.train.exponential_decay. */
EDDY_API eddy_tensor eddy_exponential_decay_with(const eddy_decay_args *given);
#define eddy_exponential_decay(...) \
    eddy_exponential_decay_with(EDDY_ARGS(eddy_decay_args, __VA_ARGS__))
/* lr exp(-decay_rate f).  tf.train.natural_exp_decay. */
EDDY_API eddy_tensor eddy_natural_exp_decay_with(const eddy_decay_args *given);
#define eddy_natural_exp_decay(...) \
    eddy_natural_exp_decay_with(EDDY_ARGS(eddy_decay_args, __VA_ARGS__))
/* lr / (1 + decay_rate f).  tf.train.inverse_time_decay. */
EDDY_API eddy_tensor eddy_inverse_time_decay_with(const eddy_decay_args *given);
#define eddy_inverse_time_decay(...) \
    eddy_inverse_time_decay_with(EDDY_ARGS(eddy_decay_args, __VA_ARGS__))

typedef struct eddy_polynomial_decay_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_polynomial_decay_args));
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor decay_steps;         /* required */
    eddy_tensor end_learning_rate EDDY_DEFAULT_SCALAR(0.0001);
    eddy_tensor power EDDY_DEFAULT_SCALAR(1);
    bool        cycle;               /* D grows to the next multiple of itself */
    const char *name;
} eddy_polynomial_decay_args;
/* (lr - end) (1 - f)^power + end, where s is at most D. With cycle, D is multiplied by ceil(f),
 * or by 1 at step 0, instead. tf.train.polynomial_decay. */
EDDY_API eddy_tensor eddy_polynomial_decay_with(const eddy_polynomial_decay_args *given);
#define eddy_polynomial_decay(...) \
    eddy_polynomial_decay_with(EDDY_ARGS(eddy_polynomial_decay_args, __VA_ARGS__))

typedef struct eddy_piecewise_constant_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_piecewise_constant_args));
    eddy_tensor x;                   /* required; usually the global step */
    eddy_list   boundaries;          /* scalars of x's type, or int32 for an int64 x; ascending */
    eddy_list   values;              /* one more, all of one type */
    const char *name;
} eddy_piecewise_constant_args;
/* values[i] where boundaries[i - 1] < x <= boundaries[i]: a boundary belongs to the interval
 * before it. EDDY_INVALID_ARGUMENT for another number of values; EDDY_BAD_DTYPE for different
 * types. tf.train.piecewise_constant. */
EDDY_API eddy_tensor eddy_piecewise_constant_with(const eddy_piecewise_constant_args *given);
#define eddy_piecewise_constant(...) \
    eddy_piecewise_constant_with(EDDY_ARGS(eddy_piecewise_constant_args, __VA_ARGS__))

typedef struct eddy_cosine_decay_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_cosine_decay_args));
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor decay_steps;         /* required */
    eddy_tensor alpha EDDY_DEFAULT_SCALAR(0); /* the last rate, as a fraction of lr */
    const char *name;
} eddy_cosine_decay_args;
/* lr ((1 - alpha) (1 + cos(pi f)) / 2 + alpha), s at most D: Loshchilov and Hutter 2016 without
 * restarts. tf.train.cosine_decay. */
EDDY_API eddy_tensor eddy_cosine_decay_with(const eddy_cosine_decay_args *given);
#define eddy_cosine_decay(...) \
    eddy_cosine_decay_with(EDDY_ARGS(eddy_cosine_decay_args, __VA_ARGS__))

typedef struct eddy_cosine_decay_restarts_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_cosine_decay_restarts_args));
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor first_decay_steps;   /* required */
    eddy_tensor t_mul EDDY_DEFAULT_SCALAR(2); /* factor for the length of each period */
    eddy_tensor m_mul EDDY_DEFAULT_SCALAR(1); /* factor for the initial rate of each period */
    eddy_tensor alpha EDDY_DEFAULT_SCALAR(0);
    const char *name;
} eddy_cosine_decay_restarts_args;
/* lr ((1 - alpha) m_mul^i (1 + cos(pi r)) / 2 + alpha) in period i, where r is the elapsed
 * fraction of the period: Loshchilov and Hutter 2016. tf.train.cosine_decay_restarts. */
EDDY_API eddy_tensor eddy_cosine_decay_restarts_with(const eddy_cosine_decay_restarts_args *given);
#define eddy_cosine_decay_restarts(...) \
    eddy_cosine_decay_restarts_with(EDDY_ARGS(eddy_cosine_decay_restarts_args, __VA_ARGS__))

typedef struct eddy_linear_cosine_decay_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_linear_cosine_decay_args));
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor decay_steps;         /* required */
    eddy_tensor num_periods EDDY_DEFAULT_SCALAR(0.5); /* of the cosine */
    eddy_tensor alpha EDDY_DEFAULT_SCALAR(0);
    eddy_tensor beta EDDY_DEFAULT_SCALAR(0.001);
    const char *name;
} eddy_linear_cosine_decay_args;
/* lr ((alpha + 1 - f) (1 + cos(2 pi num_periods f)) / 2 + beta), s at most D: Bello et al. 2017.
 * tf.train.linear_cosine_decay. */
EDDY_API eddy_tensor eddy_linear_cosine_decay_with(const eddy_linear_cosine_decay_args *given);
#define eddy_linear_cosine_decay(...) \
    eddy_linear_cosine_decay_with(EDDY_ARGS(eddy_linear_cosine_decay_args, __VA_ARGS__))

typedef struct eddy_noisy_linear_cosine_decay_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_noisy_linear_cosine_decay_args));
    eddy_tensor learning_rate;       /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor decay_steps;         /* required */
    eddy_tensor initial_variance EDDY_DEFAULT_SCALAR(1);
    eddy_tensor variance_decay EDDY_DEFAULT_SCALAR(0.55);
    eddy_tensor num_periods EDDY_DEFAULT_SCALAR(0.5);
    eddy_tensor alpha EDDY_DEFAULT_SCALAR(0);
    eddy_tensor beta EDDY_DEFAULT_SCALAR(0.001);
    int64_t     seed;                /* of the noise, as of eddy_random_normal */
    const char *name;
} eddy_noisy_linear_cosine_decay_args;
/* The same with normally distributed noise of variance initial_variance / (1 + s)^variance_decay
 * added to 1 - f, drawn anew in each run. tf.train.noisy_linear_cosine_decay. */
EDDY_API eddy_tensor eddy_noisy_linear_cosine_decay_with(
    const eddy_noisy_linear_cosine_decay_args *given);
#define eddy_noisy_linear_cosine_decay(...) \
    eddy_noisy_linear_cosine_decay_with(EDDY_ARGS(eddy_noisy_linear_cosine_decay_args, __VA_ARGS__))

/* ------------------------------------------------------------ newer schedules -- */

typedef struct eddy_linear_warmup_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_linear_warmup_args));
    eddy_tensor learning_rate;       /* required: a number or any schedule */
    eddy_tensor global_step;         /* required */
    eddy_tensor warmup_steps;        /* required */
    eddy_tensor start_factor EDDY_DEFAULT_SCALAR(0);
    const char *name;
} eddy_linear_warmup_args;
/* lr (start_factor + (1 - start_factor) s / warmup_steps), and lr from step warmup_steps on. For
 * a schedule that starts after the warm-up, pass eddy_sub(global_step, warmup_steps) as its
 * step. PyTorch: LinearLR, whose start_factor is 1/3 by default. */
EDDY_API eddy_tensor eddy_linear_warmup_with(const eddy_linear_warmup_args *given);
#define eddy_linear_warmup(...) \
    eddy_linear_warmup_with(EDDY_ARGS(eddy_linear_warmup_args, __VA_ARGS__))

typedef struct eddy_inverse_square_root_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_inverse_square_root_args));
    eddy_tensor learning_rate;       /* required: the highest, reached at warmup_steps */
    eddy_tensor global_step;         /* required; counts from 1, since the rate of step 0 is 0 */
    eddy_tensor warmup_steps;        /* required; below 1 it is 1 */
    const char *name;
} eddy_inverse_square_root_args;
/* lr min(s / W, sqrt(W / s)), where W is warmup_steps: Vaswani et al. 2017, whose learning rate
 * is lr = 1 / sqrt(d_model W). */
EDDY_API eddy_tensor eddy_inverse_square_root_decay_with(
    const eddy_inverse_square_root_args *given);
#define eddy_inverse_square_root_decay(...) \
    eddy_inverse_square_root_decay_with(EDDY_ARGS(eddy_inverse_square_root_args, __VA_ARGS__))

typedef struct eddy_one_cycle_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_one_cycle_args));
    eddy_tensor max_learning_rate;   /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor total_steps;         /* required */
    /* the fraction of the steps in which the rate rises */
    eddy_tensor pct_start EDDY_DEFAULT_SCALAR(0.3);
    eddy_tensor div_factor EDDY_DEFAULT_SCALAR(25); /* the first rate is max / div_factor */
    /* the last is first / final_div_factor */
    eddy_tensor final_div_factor EDDY_DEFAULT_SCALAR(10000);
    bool        linear;              /* straight lines; default half cosines */
    bool        three_phase;         /* down as it went up, and then to the last rate */
    const char *name;
} eddy_one_cycle_args;
/* One-cycle schedule (Smith and Topin 2018): from max / div_factor up to max and down to the
 * final rate, which stays after step total_steps - 1. PyTorch: OneCycleLR. */
EDDY_API eddy_tensor eddy_one_cycle_with(const eddy_one_cycle_args *given);
#define eddy_one_cycle(...) eddy_one_cycle_with(EDDY_ARGS(eddy_one_cycle_args, __VA_ARGS__))

typedef struct eddy_one_cycle_momentum_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_one_cycle_momentum_args));
    eddy_tensor max_momentum;        /* required */
    eddy_tensor global_step;         /* required */
    eddy_tensor total_steps;         /* required */
    eddy_tensor base_momentum EDDY_DEFAULT_SCALAR(0.85);
    eddy_tensor pct_start EDDY_DEFAULT_SCALAR(0.3);
    bool        linear, three_phase;
    const char *name;
} eddy_one_cycle_momentum_args;
/* The momentum for the one-cycle schedule: from max to base while the rate rises, and back.
 * PyTorch: OneCycleLR with cycle_momentum, whose max_momentum is 0.95. */
EDDY_API eddy_tensor eddy_one_cycle_momentum_with(const eddy_one_cycle_momentum_args *given);
#define eddy_one_cycle_momentum(...) \
    eddy_one_cycle_momentum_with(EDDY_ARGS(eddy_one_cycle_momentum_args, __VA_ARGS__))

typedef enum eddy_cyclic_mode {
    EDDY_CYCLIC_TRIANGULAR = 0,
    EDDY_CYCLIC_TRIANGULAR2,         /* each cycle half as high as the one before */
    EDDY_CYCLIC_EXP_RANGE            /* gamma^s times as high */
} eddy_cyclic_mode;

typedef struct eddy_cyclic_args {
    size_t           size_ EDDY_DEFAULT(sizeof(eddy_cyclic_args));
    eddy_tensor      learning_rate;  /* required: the lowest */
    eddy_tensor      global_step;    /* required */
    eddy_tensor      max_learning_rate;      /* required */
    /* steps from the lowest to the highest */
    eddy_tensor      step_size_up EDDY_DEFAULT_SCALAR(2000);
    /* ... and back; default step_size_up */
    eddy_tensor      step_size_down EDDY_DEFAULT(EDDY_OMITTED_TENSOR);
    eddy_cyclic_mode mode;
    eddy_tensor      gamma EDDY_DEFAULT_SCALAR(1); /* of EDDY_CYCLIC_EXP_RANGE */
    const char      *name;
} eddy_cyclic_args;
/* lr + (max - lr) h times the height given by the mode, where h rises linearly from 0 to 1 and
 * falls back. EDDY_INVALID_ARGUMENT for an unknown mode. Smith 2017; PyTorch: CyclicLR. */
EDDY_API eddy_tensor eddy_cyclic_with(const eddy_cyclic_args *given);
#define eddy_cyclic(...) eddy_cyclic_with(EDDY_ARGS(eddy_cyclic_args, __VA_ARGS__))

typedef struct eddy_joined_schedules_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_joined_schedules_args));
    eddy_tensor global_step;         /* required */
    eddy_list   schedules;           /* required: at least one, all of one floating type */
    eddy_list   boundaries;          /* one less: the first steps of the others, ascending */
    const char *name;
} eddy_joined_schedules_args;
/* schedules[0] before boundaries[0], schedules[i] from boundaries[i - 1] on. For a schedule that
 * counts from its own start, pass eddy_sub(global_step, boundary) as its step:
 *
 *   eddy_tensor w = eddy_scalar(g, 100), lr = eddy_scalar(g, 0.01);
 *   eddy_tensor up = eddy_linear_warmup(lr, step, w);
 *   eddy_tensor down = eddy_cosine_decay(lr, eddy_sub(eddy_cast(step, EDDY_FLOAT32), w), n);
 *   eddy_tensor rate = eddy_joined_schedules(step, EDDY_LIST(up, down), EDDY_LIST(w));
 *
 * EDDY_INVALID_ARGUMENT for another number of boundaries. Optax: join_schedules; PyTorch:
 * SequentialLR. */
EDDY_API eddy_tensor eddy_joined_schedules_with(const eddy_joined_schedules_args *given);
#define eddy_joined_schedules(...) \
    eddy_joined_schedules_with(EDDY_ARGS(eddy_joined_schedules_args, __VA_ARGS__))

/* A learning rate that decreases when a metric stops improving. */
typedef struct eddy_plateau {
    eddy_tensor learning_rate;       /* a variable */
    eddy_tensor update;              /* to be run once per epoch, with the metric; its value is the new rate */
} eddy_plateau;

typedef struct eddy_reduce_on_plateau_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_reduce_on_plateau_args));
    eddy_tensor learning_rate;       /* required: the first; a constant */
    eddy_tensor metric;              /* required: a number, usually a placeholder */
    eddy_tensor factor EDDY_DEFAULT_SCALAR(0.1);
    int         patience EDDY_DEFAULT(10); /* bad epochs before a reduction; -1: none */
    eddy_tensor threshold EDDY_DEFAULT_SCALAR(0.0001); /* the least improvement */
    bool        absolute_threshold;  /* the threshold is a difference; default: a fraction */
    int         cooldown;            /* epochs not counted after a reduction; default 0 */
    eddy_tensor min_learning_rate EDDY_DEFAULT_SCALAR(0);
    eddy_tensor epsilon EDDY_DEFAULT_SCALAR(1e-8); /* smaller reductions are skipped */
    bool        maximize;            /* larger metrics are better */
    const char *name;                /* of the scope of its variables; default "ReduceOnPlateau" */
} eddy_reduce_on_plateau_args;
/* After patience epochs without a metric that is better than the best one by the threshold, rate
 * = max(rate factor, min). The best metric, the count of bad epochs and that of the cooldown are
 * variables like the rate, so a checkpoint contains them. To reduce another schedule, start with
 * the rate 1 and multiply. A metric that is NaN is never better. EDDY_INVALID_ARGUMENT for a
 * negative cooldown. PyTorch: ReduceLROnPlateau. */
EDDY_API eddy_plateau eddy_reduce_on_plateau_with(const eddy_reduce_on_plateau_args *given);
#define eddy_reduce_on_plateau(...) \
    eddy_reduce_on_plateau_with(EDDY_ARGS(eddy_reduce_on_plateau_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
