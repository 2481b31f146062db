/* constraint.h -- constraints of variables that are copied to another graph. */
#ifndef EDDY_OPS_STATE_CONSTRAINT_H
#define EDDY_OPS_STATE_CONSTRAINT_H

#include "graph/copy.h"

/* Gives the copies of variables the constraints of these. False with the error set. */
bool eddy__copy_constraints(eddy_copy *c);

#endif
