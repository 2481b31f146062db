/* trainings.h -- trainings of five kinds of networks with random data and dropout, for tests of
 * whether they give the same bits. */
#ifndef EDDY_TESTS_LIB_TRAININGS_H
#define EDDY_TESTS_LIB_TRAININGS_H

#include <eddy/eddy.h>

typedef struct training {
    const char *name;
    eddy_tensor (*loss)(eddy_graph *g);
    bool        has_products;           /* of matrices, or convolutions */
} training;

enum { TRAININGS = 6 };
extern const training trainings[TRAININGS];

typedef struct training_way {
    int  threads;
    bool by_default;                    /* without .deterministic */
    bool saved;                         /* half of the steps, then a file and another session */
} training_way;

/* A hash of all variables after so many steps; 0 after an error, which is printed. */
uint64_t training_bits(const training *t, int steps, training_way way);

#endif
