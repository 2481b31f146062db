/* variable_norms.c -- norms of variables of which this process may have a part. They stand alone
 * because a program without them is smaller by the kernels of norms. */
#include "optim/internal.h"
#include "ops/short_names.h"

void eddy__two_norms(const eddy_optimizer *o, eddy_tensor v, eddy_tensor x[2])
{
    const bool part = eddy__is_part(v);
    for (int i = 0; i < 2; i++) x[i] = part ? Sum(Square(x[i])) : eddy_euclidean_norm(x[i]);
    if (!part) return;
    eddy__sum_parts(o, 2, (eddy_tensor[]){ v, v }, x);
    for (int i = 0; i < 2; i++) x[i] = Sqrt(x[i]);
}
