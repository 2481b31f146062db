/* patterns.h -- the families of patterns that the passes recognise. */
#ifndef EDDY_SESSION_PASSES_PATTERNS_H
#define EDDY_SESSION_PASSES_PATTERNS_H

#include "session/passes/match.h"

/* What r->node computes from parts that nothing else reads becomes one op. */
bool eddy__pattern_norm(rewrite *r);
bool eddy__pattern_gelu(rewrite *r);
/* The gradient of a normalisation, whatever else reads its parts. */
bool eddy__pattern_norm_slope(rewrite *r);

#endif
