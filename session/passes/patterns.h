/* patterns.h -- the families of patterns that the passes recognize. */
#ifndef EDDY_SESSION_PASSES_PATTERNS_H
#define EDDY_SESSION_PASSES_PATTERNS_H

#include "session/passes/match.h"

/* Replaces r->node by one operation if it is composed of nodes that have no other readers. */
bool eddy__pattern_norm(rewrite *r);
bool eddy__pattern_gelu(rewrite *r);
/* The gradient of a normalization, whatever else reads its parts. */
bool eddy__pattern_norm_gradient(rewrite *r);

#endif
