/* ops.h -- all operations. The headers are generated, one for each folder of ops/, and graphs.h
 * for graph files. */
#ifndef EDDY_OPS_H
#define EDDY_OPS_H

#include "arrays.h"
#include "formulas.h"
#include "graphs.h"
#include "images.h"
#include "linear.h"
#include "math.h"
#include "nets.h"
#include "random.h"
#include "reduce.h"
#include "signal.h"
#include "state.h"

#endif
