/* loop_rules.c -- fusion rules: which kernels may follow each other in one loop over tiles. */
#include "session/compile/loop_rules.h"

/* How a kernel takes part in a loop. */
typedef enum role { NONE, MAP, UPDATE, FOLD } role;

/* Some types (float16) can only be moved: there is no inner loop for them. */
static bool has_tile(const eddy_kernel *k)
{
    eddy_type in[LOOP_OPERANDS];
    for (int j = 0; j < k->n_in; j++) in[j] = k->in[j]->type;
    return k->op->tile && k->op->tile(in, &k->out[0]->type) != NULL;
}

static int broadcasts_of(const eddy_kernel *k)
{
    int n = 0;
    for (int j = 0; j < k->n_in; j++) n += k->in[j]->count != k->out[0]->count;
    return n;
}

bool eddy__is_fold(const eddy_kernel *k, eddy_blocks *b)
{
    return eddy__may_fold(k->op) && k->n_out == 1 && k->in[0]->count > 0 && k->op->folds(k, b) &&
           b->count > 0;
}

static role role_of(const eddy_kernel *k, bool in_variable, eddy_blocks *b)
{
    if (k->n_out != 1 || k->n_in > LOOP_OPERANDS) return NONE;
    if (eddy__may_fold(k->op)) return eddy__is_fold(k, b) ? FOLD : NONE;
    if (k->out[0]->count == 0) return NONE;
    if (k->op->flags & EDDY_OP_ELEMENTWISE) return MAP;
    return in_variable && broadcasts_of(k) == 0 && has_tile(k) ? UPDATE : NONE;
}

bool eddy__loop_takes(tile_loop *l, const eddy_kernel *k, bool in_variable)
{
    eddy_blocks   b = { 0 };
    const role    as = role_of(k, in_variable, &b);
    if (as == NONE) return false;
    const int64_t count = as == FOLD ? k->in[0]->count : k->out[0]->count;
    if (l->count == 0) l->count = count;
    if (count != l->count) return false;
    if (as == FOLD) {
        if (l->block > 0 && b.block != l->block) return false;
        l->block = b.block;
        return true;
    }
    l->broadcasts += broadcasts_of(k);
    l->updated = l->updated || as == UPDATE;
    /* an element may be invalid (division by zero): no variable may have been updated before */
    l->fallible = l->fallible || eddy_dtype_is_integer(k->out[0]->type.dtype);
    return l->broadcasts <= LOOP_SPREADS && !(l->updated && l->fallible);
}
