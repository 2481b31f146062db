/* profile_rows.h -- what the tables and the lines of a profile share. */
#ifndef EDDY_SESSION_PROFILE_PROFILE_ROWS_H
#define EDDY_SESSION_PROFILE_PROFILE_ROWS_H

#include "session/compile/fused_loop.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/program.h"
#include "session/profile/node_times.h"

/* An instruction; or, of a summary, all of one operation. */
typedef struct row {
    const instruction *of;
    int32_t            number;
    int64_t            instructions;
    instruction_profile total;      /* flops and bytes count all calls */
} row;

typedef struct summary {
    FILE   *to;
    double  nanoseconds;            /* of a tick */
    int64_t ticks;                  /* of all plans */
    const eddy_plan **plans;        /* that ran, the most expensive first */
    row    *rows;                   /* rows of the table of all plans, then of one plan at a time */
    int     n_plans;
    int32_t n_rows;
    node_time *nodes;               /* that ran one by one, the most expensive first */
    int32_t n_nodes;
} summary;

static inline const fused *fused_of(const instruction *i)
{
    return i->run == eddy__fused_kernel ? i->kernel.state : NULL;
}
static inline bool is_combined(const instruction *i)
{
    return fused_of(i) || eddy__parallel_chains_of(i);
}

/* The number of parts of a combined instruction. */
int eddy__profile_count_parts(const instruction *i);
/* The name of an instruction, or of a part of a combined one. */
const char *eddy__profile_label(const instruction *i);
const char *eddy__profile_part_label(const instruction *i, int number);
/* The number of parts with the label of part k; 0 if an earlier part has the same label. */
int eddy__profile_count_label(const instruction *i, int k);
row eddy__profile_row(const eddy_plan *p, int32_t i);
int eddy__profile_by_ticks(const void *a, const void *b);     /* rows, the most expensive first */
/* The instruction of the plan that runs the program; NULL: it is part of another one. */
const instruction *eddy__profile_runner(const eddy_plan *p, const eddy_program *q, int32_t *number);

/* Writes `before`, and a string of JSON. */
void eddy__profile_put_string(FILE *to, const char *before, const char *text);
/* Writes `before` and the type. */
void eddy__profile_put_type(FILE *to, const char *before, eddy_type t);
/* The name of a part of a body (node_times.h), perhaps written to `text`. */
const char *eddy__profile_part(int32_t number, char *text, size_t size);
void eddy__profile_tables(summary *s);
void eddy__profile_lines(summary *s);
/* Writes the session's events, and forgets them; with the report_lock held. */
void eddy__trace_lines(summary *s, eddy_session *from);

#endif
