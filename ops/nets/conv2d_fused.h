/* conv2d_fused.h -- convolution fused with bias, residual sum and relu, created by a session. */
#ifndef EDDY_OPS_NETS_CONV2D_FUSED_H
#define EDDY_OPS_NETS_CONV2D_FUSED_H

#include "ops/nets/conv2d.h"

/* _FusedConv2D of (x, filter), followed by the bias and the residual if present:
 * y = activation(conv(x, filter) + bias + residual), NHWC. */
typedef struct eddy_fused_conv_attrs {
    eddy_conv_attrs conv;
    int64_t         has_bias, has_residual;   /* 0 or 1: one entry per channel; a tensor like y */
    int64_t         activation;               /* 0: none, 1: relu */
} eddy_fused_conv_attrs;

#endif
