/* machine.h -- what the machine can do, measured: the bars beside which a model is judged. */
#ifndef COMMAND_MACHINE_H
#define COMMAND_MACHINE_H

#include "command/command.h"

typedef struct machine {
    double flops;                       /* of a product of matrices, each second */
    double bytes;                       /* read and written by a copy, each second */
} machine;

/* Measures both with so many threads, for some tenths of a second each. False after a message. */
bool   machine_measure(machine *m, eddy_dtype d, int threads);
double seconds_now(void);

#endif
