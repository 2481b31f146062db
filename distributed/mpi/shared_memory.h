/* shared_memory.h -- messages between ranks of one machine, through memory that they share; not
 * installed. One thread at a time calls these functions. */
#ifndef EDDY_DISTRIBUTED_SHARED_MEMORY_H
#define EDDY_DISTRIBUTED_SHARED_MEMORY_H

#include "distributed/transport.h"

#include <mpi.h>

typedef struct shared_memory shared_memory;

struct eddy_message {
    MPI_Request   request;           /* MPI_REQUEST_NULL: MPI is done with it, or never had it */
    int           peer;
    bool          sends;
    bool          is_shared, ended;  /* through shared memory, */
    char         *data;              /* from or to here, */
    size_t        bytes, moved;      /* of which so many have been copied */
    int64_t       number;            /* among those from one rank to the other, from 1 on */
    eddy_take_part take;             /* gets what comes, in place of `data`; with */
    void         *taker;
    eddy_message *next;              /* that was cancelled, is kept, or waits for its turn */
    size_t        room;
    char          sent[];            /* a copy: MPI cannot take a message back that it sends */
};

/* The most bytes that a call of MPI counts; longer messages have a type of their own. Tests change it. */
extern size_t eddy__mpi_most_bytes;

/* All ranks call it. NULL where no other rank runs on this machine, without such memory, or if one
 * of them has EDDY_SHARED_MEMORY=no. */
shared_memory *eddy__shared_memory_new(MPI_Comm all);
/* All ranks of the machine call it, when none sends or receives any more. NULL is allowed. */
void           eddy__shared_memory_free(shared_memory *s);
bool           eddy__shared_memory_reaches(const shared_memory *s, int rank);

/* m has peer, sends, data and bytes; the message of a receiver may be shorter. */
void eddy__shared_memory_begin(shared_memory *s, eddy_message *m);
/* Copies what can be copied, of all messages. False if a message came that is longer than its
 * receiver permits. NULL is allowed. */
bool eddy__shared_memory_advance(shared_memory *s);
/* Ends a message early; none can follow. */
void eddy__shared_memory_cancel(shared_memory *s, eddy_message *m);

#endif
