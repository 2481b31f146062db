/* eddy.h -- static dataflow graphs with symbolic differentiation, in C.
 *
 * Build a graph of operations (graph, ops) and layers of them (layers), append the
 * nodes of its gradients (autodiff), let an optimizer append the updates (optim), and
 * run any part of it (session).  The headers below read in that order; docs/guide/tour.md walks
 * through a first program. */
#ifndef EDDY_H
#define EDDY_H

#include "graph/graph.h"
#include "ops/ops.h"
#include "autodiff/autodiff.h"
#include "autodiff/functions.h"
#include "autodiff/tape.h"
#include "control/control.h"
#include "control/solvers.h"
#include "control/tensor_array.h"
#include "autodiff/jacobians/jacobians.h"
#include "layers/layers.h"
#include "optim/optim.h"
#include "optim/mixed_precision.h"
#include "optim/rules/tf_train.h"
#include "optim/rules/adaptive.h"
#include "optim/rules/parameter_free.h"
#include "optim/schedules/schedules.h"
#include "optim/wrappers/averages.h"
#include "optim/wrappers/wrappers.h"
#include "session/session.h"
#include "session/watch.h"
#include "session/checkpoint.h"
#include "session/extract.h"
#include "optim/minimizers/minimizers.h"
#include "autodiff/check/gradient_check.h"
#include "autodiff/sparse/sparse.h"
#include "report/plot.h"
#include "report/progress.h"
#include "graph/lines.h"
#ifdef EDDY_LINES
#include "graph/call_lines.h"
#endif

#endif
