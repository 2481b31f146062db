/* nets.h -- convolutions, which fused operators also use. */
#ifndef EDDY_FORMATS_TENSORFLOW_NETS_H
#define EDDY_FORMATS_TENSORFLOW_NETS_H

#include "build.h"

/* A convolution with the attributes of the node. */
eddy_tensor eddy__tf_conv2d(tf_build *b, eddy_tensor x, eddy_tensor filter, bool depthwise);

#endif
