/* program_parts.h -- what the compilation of loops (program.c) and of branches (program_case.c)
 * share; for these files only. */
#ifndef EDDY_SESSION_COMPILE_PROGRAM_PARTS_H
#define EDDY_SESSION_COMPILE_PROGRAM_PARTS_H

#include "session/compile/program.h"

/* A program that is being compiled. */
typedef struct assembly {
    compile         *c;
    const eddy_node *node;
    eddy_program    *program;
    int              n_args;
    plan_feed       *feeds;         /* by argument */
    int32_t         *owned;         /* by argument: 1 + the result that replaces it, or 0 */
    const eddy_array **constants;   /* by argument: its value if it is constant and small */
    eddy_tensor     *fetches;
    eddy_type       *types;         /* of the results */
} assembly;

/* Records an error that names the node. Returns false. */
bool eddy__program_refuse(const assembly *a, eddy_status s, const char *what);
/* Only a run of the body tells the shapes in it, or those of loop variables. The outermost node
 * runs by itself then. Returns false. */
bool eddy__program_note_varying(assembly *a);
/* Nothing in the bodies has side effects. */
bool eddy__program_is_quiet(const assembly *a);
/* Where a program reads one element: only a run knows that there is one. */
bool eddy__program_is_scalar(const assembly *a, const char *what, eddy_type t);
/* The type of input i of the node. */
eddy_type eddy__program_input(const assembly *a, int i);
/* The argument's own type, with the shape that its value has. */
bool eddy__program_set_argument(assembly *a, int arg, eddy_type t);
/* Argument `arg` is input i, the same in all iterations: the passes of the body see its value if
 * that is a constant. */
void eddy__program_set_constant(assembly *a, int arg, int i);
/* Compiles a plan for a->fetches; types are those of its results. */
bool eddy__program_body(assembly *a, body_plan *b, int n_fetches, eddy_type *types);
/* How each result of a plan reaches its destination; the first n_carried replace carried values. */
bool eddy__program_set_results(assembly *a, body_plan *b, int n_carried,
                               const carried_value *carried);

/* A result of a Case node that is read. */
typedef struct case_result {
    const eddy_node *node;
    int              k;
} case_result;

/* The number of the result in the list, where it is appended if it is not there. */
int  eddy__case_result_number(case_result *list, int *n, const eddy_node *node, int k);
/* Compiles all branches, or the one that is chosen if that is known. */
bool eddy__case_compile(assembly *a, const case_result *results, int n_out);

#endif
