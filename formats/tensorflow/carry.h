/* carry.h -- values of a model as the tensors that Eddy's loops and branches carry: a tensor is
 * one, an array two, and a variable none, since bodies reach it from outside. */
#ifndef EDDY_FORMATS_TENSORFLOW_CARRY_H
#define EDDY_FORMATS_TENSORFLOW_CARRY_H

#include "build.h"

/* Builds a weight before a branch or body that would be the first to use it and have it alone. */
void eddy__tf_share_weight(tf_build *b, tf_value *v);
/* The tensors of these values in x, room for EDDY_MAX_RESULTS. Returns their number; -1 with a
 * reason. */
int  eddy__tf_carry(tf_build *b, tf_value *const *v, int n, eddy_tensor *x);
/* Values like those of `like`, of the tensors x. False with a reason. */
bool eddy__tf_carried(tf_build *b, tf_value *const *like, int n, const eddy_tensor *x,
                      tf_value **out);

/* A loop: the functions build the condition and the next values of n values. */
typedef struct tf_loop {
    tf_build   *b;
    tf_value  **start;          /* n values; replaced by those with settled arrays */
    int         n;
    const eddy_shape *shapes;   /* of the values, or NULL; used if their shapes change */
    bool      (*condition)(struct tf_loop *l, tf_value *const *in, tf_value **out);
    bool      (*body)(struct tf_loop *l, tf_value *const *in, tf_value **out);
    void       *context;
} tf_loop;

/* Builds the loop; its final values are stored in out. */
bool eddy__tf_while(tf_loop *l, tf_value **out);

#endif
