/* patterns.h -- the families of patterns. */
#ifndef EDDY_PATTERNS_H
#define EDDY_PATTERNS_H

#include "session/match.h"

/* What r->node computes from parts that nothing else reads becomes one op. */
bool eddy_pattern_norm(rewrite *r);
bool eddy_pattern_gelu(rewrite *r);
/* The gradient of a normalisation, whatever else reads its parts. */
bool eddy_pattern_norm_slope(rewrite *r);

#endif
