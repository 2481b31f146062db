/* world.h -- what random calls of the public interface work on: random numbers, the objects that
 * earlier calls made, memory that lives for one call, and the checks after each call. */
#ifndef HOSTILE_WORLD_H
#define HOSTILE_WORLD_H

#include <eddy/distributed.h>
#include <eddy/eddy.h>
#include <eddy/formats.h>
#include <eddy/input.h>

/* ------------------------------------------------------------------ numbers -- */

int      draw(int n);               /* 0 to n - 1 */
uint64_t draw_bits(void);
/* Once in n times; in half of the worlds much less often, so that more calls get far. */
bool       seldom(int n);
bool       world_is_mild(void);
eddy_shape world_shape(void);       /* of many tensors of a mild world */

/* ------------------------------------------------------------------ objects -- */

/* A kind of object that is handled by pointer; the generated table lists all. */
typedef struct object_kind {
    const char *name;               /* "eddy_session" */
    void      (*release)(void *object);     /* NULL: something else owns it */
} object_kind;

typedef struct outcomes {
    long refused, built, done;      /* errors, valid tensors, statuses that are EDDY_OK */
} outcomes;

void  objects_begin(const object_kind *kinds, int n, outcomes *counts);
/* One of the kind: made by an earlier call, or NULL; where the library recognizes freed and wrong
 * handles, also one of these. */
void *object_any(int kind);
void *object_take(int kind);        /* the same, for a call that frees it or takes it over */
void  object_keep(int kind, const void *object);
int   object_kind_named(const char *name);
bool  object_is_freed(const void *object);
bool  is_foreign(eddy_tensor t);    /* of another graph that exists */
void  forget_values(void);          /* structs that earlier calls returned */

eddy_graph *world_graph(void);      /* never NULL */
eddy_tensor tensor_kept(void);      /* a result of an earlier call */
void        tensor_keep(eddy_tensor t);

/* ------------------------------------------------- memory for a single call -- */

void *scratch(size_t size);         /* exactly this long, zeroed */
void  scratch_free(void);
eddy_error *scratch_error(void);    /* is checked after the call; or NULL */

/* Arrays that belong together, such as the pointers and the count of one struct, lie between
 * room_begin and room_end: each has `exact` entries if that is not negative, else enough for all
 * results. */
enum { ENOUGH = 80 };
typedef struct room {
    int entries, arrays;            /* arrays that are not NULL so far */
} room;
extern room here;
room room_begin(bool counted);
void room_end(room outer);
/* Of the arrays in this room: never too large unless all are NULL. */
int    draw_count(void);
size_t draw_bytes(void);
/* Drawing may have left an error, which would end most calls at once. */
void   arguments_end(void);

/* ------------------------------------------------------------------- worlds -- */

void world_begin(uint64_t seed);
/* Whether every error has a message and none is a defect; ends the process otherwise. */
void world_check(const char *call, bool tells);
void world_end(void);
void complain(const char *call, const char *what, const char *message);

void text_is_whole(const char *text);       /* reads it to its end */
void array_is_whole(const eddy_array *a);   /* reads its elements */
void check_status(eddy_status s);

/* Random calls that build nodes, as a function that the library calls back may do. */
eddy_tensor nested_tensor(void);

/* One pool of memory for all worlds, with a limit. */
extern const eddy_allocator limited;

#endif
