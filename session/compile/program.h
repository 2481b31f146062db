/* program.h -- programs: the plans of the body of a Loop or Case node (graph/body.h), and what
 * the node's instruction needs to run them.
 *
 * A body is compiled as a graph of its own, with its arguments as feeds, by the same stages as a
 * run. Its plan has no memory: it is part of the scratch memory of the node's instruction, so that
 * bodies at any depth share one arena, and an iteration allocates nothing. Nodes with the same body
 * and inputs, such as a loop and the loop that its gradient needs, share one program. Results that
 * are not read are not computed. */
#ifndef EDDY_SESSION_COMPILE_PROGRAM_H
#define EDDY_SESSION_COMPILE_PROGRAM_H

#include "graph/body.h"
#include "session/compile/ir.h"

/* How a result of a body reaches its destination: it is written there; it stays in the memory of
 * the carried value that it replaces; or it is copied from a buffer of the plan. */
typedef enum body_result { RESULT_WRITTEN, RESULT_IN_PLACE, RESULT_COPIED } body_result;

typedef struct body_plan {
    eddy_plan   *plan;
    void       **feed_at, **result_at;  /* addresses, by feed and by fetch */
    body_result *how;                   /* by fetch */
} body_plan;

/* A carried value of a loop. */
typedef struct carried_value {
    int32_t   argument;         /* in kernel.in of the instruction: its initial value */
    int32_t   output;           /* of the instruction; -1: its final value is not read */
    int32_t   index;            /* among the node's */
    size_t    bytes;
    uint64_t  at[2];            /* offsets of its two buffers in scratch memory; [0] only
                                 * without an output */
    eddy_type type;
} carried_value;

/* The memory of a stack of an open loop. */
typedef struct open_stack {
    void  *data, *base;
    size_t bytes;
} open_stack;

typedef struct eddy_program eddy_program;
struct eddy_program {
    eddy_program    *next;          /* of the plan */
    const eddy_node *node;          /* the first of its nodes */
    const uint8_t   *takes;         /* by input of the node: its value is needed */
    int              n_outputs;
    eddy_type       *outputs;       /* of the instruction */

    /* Loops: condition (or without a plan) and body. Cases: one plan a branch. */
    body_plan        condition, *bodies;
    int              n_bodies;
    int              first_branch;  /* of a Case: that of bodies[0], alone if the index is known */
    int32_t          n_carried, n_sliced, n_stacked;
    carried_value   *carried;       /* fetches 0 .. n_carried-1 of the body */
    size_t          *stack_row;     /* bytes of a row; fetches from n_carried on */
    size_t          *slice_row;     /* the same of the node's sliced inputs */
    int64_t          most;          /* iterations; INT64_MAX: no limit */
    int64_t          iteration;     /* argument 0 of the body */
    bool             segment;       /* the loop is in the body of a segmented one */
    int64_t          before;        /* if so: its iterations in earlier segments */
    bool             counts;        /* the last output is the number of iterations */
    uint64_t         scratch_bytes;

    /* Open loops: outputs that are stacks have a type of no rows, and memory that grows. */
    bool                  open;
    open_stack           *stacks;
    int64_t               room, rows;   /* rows for which there is memory, that are in use */
    open_memory          *memory;       /* of all programs of a run */
    const eddy_allocator *allocator;
};

/* The parts of a Loop or Case node that its consumers need, found before anything is compiled. */
typedef struct body_use {
    uint8_t      *outs;         /* by output: 1 its type, 3 its value */
    uint8_t      *takes;        /* by input: its value is needed */
    eddy_program *program;
    int32_t      *output;       /* by output: that of the program; -1: not computed */
    int32_t       leader;       /* id of the first node with this program */
} body_use;

/* Stack k of a loop is computed. */
static inline bool eddy__computes_stack(const eddy_loop_attrs *a, const body_use *u, int64_t k)
{
    const uint8_t wanted = u->outs[a->n_carried + k];
    return (wanted & 2) || (wanted && !eddy__stacks_argument(a, k));
}

static inline bool eddy__has_body(const eddy_node *node) { return node->op->flags & EDDY_OP_BODY; }

/* Whether running the node has side effects in this plan. */
static inline bool eddy__acts(const compile *c, const eddy_node *node)
{
    if (c->quiet) return false;
    return (node->op->flags & EDDY_OP_SIDE_EFFECT) ||
           (eddy__has_body(node) && eddy__body_acts(node));
}

/* Both nodes run the same body on the same inputs. */
bool eddy__may_share(const eddy_node *a, const eddy_node *b);

/* A reader of output t.output of a Loop or Case node needs its type, or its value. False if out
 * of memory. */
bool eddy__body_want(compile *c, eddy_tensor t, bool value);
/* Finds the inputs whose values the node needs (use->takes), from its wanted outputs. */
bool eddy__body_find_inputs(compile *c, const eddy_node *node);
/* Compiles the program of the node, or finds the one that it shares, and sets the types of its
 * outputs. */
bool eddy__body_compile(compile *c, const eddy_node *node);
/* Sets the types of its outputs; those that nobody needs are empty. */
bool eddy__body_set_types(compile *c, const eddy_node *node);
/* Sets the size of the scratch memory of the instruction; then, the memory. */
void eddy__program_prepare(instruction *i);
void eddy__program_attach(instruction *i);
eddy_status eddy__program_run(eddy_kernel *k);

/* Stacks of open loops (program_stacks.c). A run begins: memory that the last one hardly used is
 * freed. Makes room for so many rows, at least twice as many as before unless `exactly`; the first
 * p->rows stay. Gives the memory to the outputs from `first` on. */
void        eddy__stacks_begin(eddy_program *p);
eddy_status eddy__stacks_reserve(eddy_kernel *k, eddy_program *p, int64_t rows, bool exactly);
void        eddy__stacks_show(const eddy_kernel *k, const eddy_program *p, int first);
void        eddy__stacks_free(eddy_program *p);
/* The rows of `row` bytes in a sliced input of an open loop. */
int64_t     eddy__stacks_rows(const eddy_buffer *b, size_t row);
/* For tests (check_program.c): as eddy__plan_check, of a program of the plan `outer`: its plans,
 * and the memory in which it keeps carried values. */
bool eddy__program_check(const eddy_plan *outer, const eddy_program *p, eddy_error *error);
void eddy__program_free(eddy_program *p);

#endif
