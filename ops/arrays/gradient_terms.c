/* gradient_terms.c -- for gradient rules of operations with several outputs. */
#include "ops/arrays/gradient_terms.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

bool eddy__has_gradient(eddy_tensor dy)
{
    return eddy_is_valid(dy) && eddy_node_of(dy)->op != &eddy_op_zeros_like;
}

eddy_tensor eddy__add_terms(eddy_tensor a, eddy_tensor b)
{
    return !eddy_is_valid(a) ? b : !eddy_is_valid(b) ? a : Add(a, b);
}
