/* run_memory.h -- the memory in which plans compute, shared by the plans of a session. */
#ifndef EDDY_SESSION_RUN_MEMORY_H
#define EDDY_SESSION_RUN_MEMORY_H

#include "session/state/internal.h"

/* Gives the plan, which runs only once at a time, memory for a run; false if there is none. */
bool eddy__run_memory_take(eddy_plan *p);
void eddy__run_memory_give(const eddy_plan *p);
/* The bytes of all blocks; frees those that no run uses; frees all. */
size_t eddy__run_memory_bytes(eddy_session *s);
void   eddy__run_memory_trim(eddy_session *s);
void   eddy__run_memory_free(eddy_session *s);

#endif
