/* mpi_ranks.h -- ranks that are the processes of an MPI program, started by mpirun.
 *
 * This is a library of its own, libeddy_mpi, which is built where MPI is: include
 * <eddy/distributed/mpi/mpi_ranks.h> and link with pkg-config --libs eddy-mpi. */
#ifndef EDDY_DISTRIBUTED_MPI_RANKS_H
#define EDDY_DISTRIBUTED_MPI_RANKS_H

#include "../communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Joins the other processes: initializes MPI, unless the program has done that, and returns the
 * communicator of all ranks. Freeing it waits until all ranks free theirs, and finalizes MPI if this
 * call has initialized it. Without mpirun, there is one rank. Ranks of one machine exchange messages
 * through memory that they share; EDDY_SHARED_MEMORY=no in the environment leaves this to MPI. NULL
 * with an error, and MPI is finalized then, too, if this call has initialized it; MPI cannot start
 * again in the same process. */
EDDY_API eddy_communicator *eddy_mpi_join(eddy_error *error);

#ifdef __cplusplus
}
#endif
#endif
