/* passes.c -- the passes over a plan's flow, in order. */
#include "session/flow.h"

bool eddy_improve(compile *c)
{
    (void)c;
    return true;
}
