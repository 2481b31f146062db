/* stage_runs.h -- the nodes of a stage that run outside of plans. */
#ifndef EDDY_SESSION_STAGE_RUNS_H
#define EDDY_SESSION_STAGE_RUNS_H

#include "session/stages/dynamic_shapes.h"
#include "session/stages/run_body.h"

/* Runs those of stage i, whose inputs are fed or were made by stages, and stores their results in
 * `made`, by cut. taken: see eddy__draws_take. False with the error of r set. */
bool eddy__stage_runs(node_run *r, const stages *t, int i, eddy_feeds feeds, node_value *made,
                      uint64_t *taken);

#endif
