/* rows_updates.c -- the operations that update parts of variables, which the sweep cannot build;
 * see rows.h. test_updates.c tests them. */
#include "tests/lib/rows.h"

#define STATE "works on a variable's state"
static const sweep_exempt exempts[] = {
    { "ScatterMul", STATE },
    { "ScatterDiv", STATE },
    { "ScatterMin", STATE },
    { "ScatterMax", STATE },
    { "ScatterNdUpdate", STATE },
    { "ScatterNdAdd", STATE },
    { "ScatterNdSub", STATE },
    { "ScatterNdMin", STATE },
    { "ScatterNdMax", STATE },
    { "StridedSliceAssign", STATE },
    { "CountUpTo", STATE },
};
const sweep_family updates_rows = { NULL, 0, exempts, sizeof exempts / sizeof *exempts };
