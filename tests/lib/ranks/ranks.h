/* ranks.h -- programs that ranks run together, for threads (tests/distributed) and for processes
 * (tests/mpi). */
#ifndef EDDY_TESTS_LIB_RANKS_RANKS_H
#define EDDY_TESTS_LIB_RANKS_RANKS_H

#include "distributed.h"

/* The program of each rank; false, after a line on stderr, if a check fails. */
typedef bool (*rank_program)(eddy_communicator *c);

typedef struct rank_scenario {
    const char  *name;
    rank_program run;
} rank_scenario;

/* Ended by a row without a name. They work with any number of ranks up to 8. */
extern const rank_scenario rank_scenarios[];

/* Runs a program on that many threads; true if all ranks are content. */
bool on_threads(int ranks, rank_program program, eddy_error *error);

/* ok; if it is false, prints the rank and the text first. */
bool expect(const eddy_communicator *c, bool ok, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The programs of each file. */
bool collectives_agree(eddy_communicator *c);
bool integers_agree(eddy_communicator *c);
bool complex_numbers_agree(eddy_communicator *c);
bool halves_agree(eddy_communicator *c);
bool groups_agree(eddy_communicator *c);
bool arrays_agree(eddy_communicator *c);
bool maps_agree(eddy_communicator *c);
bool loops_agree(eddy_communicator *c);
bool trainings_agree(eddy_communicator *c);
bool skips_agree(eddy_communicator *c);
bool empties_agree(eddy_communicator *c);
bool traces_show_collectives(eddy_communicator *c);
bool compression_agrees(eddy_communicator *c);
bool shardings_agree(eddy_communicator *c);
bool slots_are_divided(eddy_communicator *c);
bool checkpoints_agree(eddy_communicator *c);
bool divided_variables_agree(eddy_communicator *c);
bool variables_are_divided(eddy_communicator *c);
bool failed_saves_leave_nothing(eddy_communicator *c);
bool optimizers_agree(eddy_communicator *c);
bool parallel_layers_agree(eddy_communicator *c);
bool parallel_trainings_agree(eddy_communicator *c);
bool parallel_checkpoints_agree(eddy_communicator *c);
bool sync_batch_norms_agree(eddy_communicator *c);
bool minimizers_agree(eddy_communicator *c);

#endif
