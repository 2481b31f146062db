/* ranks.h -- calls of libeddy_distributed whose arguments depend on each other; calls.awk finds them
 * by name. */
#ifndef HOSTILE_RANKS_H
#define HOSTILE_RANKS_H

/* With a transport that fails in one of several ways. */
void call_eddy_communicator_new(void);
/* Each rank is a thread of its own. */
void call_eddy_run_threads(void);
/* The room that it needs follows from the fetches. */
void call_eddy_run_ranks(void);

#endif
