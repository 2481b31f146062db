/* program.c -- compiles the body of a Loop or Case node into the plans of a program; branches are
 * in program_case.c. */
#include "session/compile/program_parts.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNED = 64 };

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

/* ------------------------------------------------------ nodes of a program -- */

static bool same_carried(const eddy_loop_attrs *a, const eddy_loop_attrs *b)
{
    const size_t bytes = 2 * (size_t)(a->conditional + a->n_carried) * sizeof *a->outs.at;
    return a->n_carried == b->n_carried && a->n_sliced == b->n_sliced && a->trips == b->trips &&
           a->conditional == b->conditional && a->counted == b->counted &&
           a->reverse == b->reverse && a->open == b->open && a->quiet == b->quiet &&
           a->segmented == b->segmented &&
           (bytes == 0 || memcmp(a->outs.at, b->outs.at, bytes) == 0);
}

bool eddy__may_share(const eddy_node *a, const eddy_node *b)
{
    if (a->op != b->op || eddy__body_of(a) != eddy__body_of(b) || a->n_inputs != b->n_inputs)
        return false;
    for (int i = 0; i < a->n_inputs; i++)
        if (!eddy_same(a->inputs[i], b->inputs[i])) return false;
    if (a->op->flags & EDDY_OP_LOOP) return same_carried(a->attrs, b->attrs);
    return eddy__is_quiet(a) == eddy__is_quiet(b) &&
           ((const eddy_case_attrs *)a->attrs)->n_branches ==
               ((const eddy_case_attrs *)b->attrs)->n_branches;
}

/* -------------------------------------------------------------- compiling -- */

bool eddy__program_is_quiet(const assembly *a) { return a->c->quiet || eddy__is_quiet(a->node); }

bool eddy__program_refuse(const assembly *a, eddy_status s, const char *what)
{
    return eddy__error_set(a->c->error, s, "%s: %s [node '%.200s']", a->node->op->name, what,
                           a->node->name);
}

bool eddy__program_set_results(assembly *a, body_plan *b, int n_carried,
                               const carried_value *carried)
{
    eddy_plan *p = b->plan;
    b->feed_at = eddy__plan_alloc(a->c, (size_t)p->n_feeds, sizeof *b->feed_at);
    b->result_at = eddy__plan_alloc(a->c, (size_t)p->n_fetches, sizeof *b->result_at);
    b->how = eddy__plan_alloc(a->c, (size_t)p->n_fetches, sizeof *b->how);
    if (!b->feed_at || !b->result_at || !b->how) return false;
    for (int k = 0; k < p->n_fetches; k++) {
        const plan_fetch *f = &p->outputs[k];
        const plan_root  *r = f->buffer >= 0 ? &p->roots[p->buffer_root[f->buffer]] : NULL;
        const bool stays = k < n_carried && r && r->kind == VALUE_FEED &&
                           r->index == carried[k].index + 1 && p->buffer_at[f->buffer] == 0;
        b->how[k] = f->direct ? RESULT_WRITTEN : stays ? RESULT_IN_PLACE : RESULT_COPIED;
    }
    return true;
}

bool eddy__program_is_scalar(const assembly *a, const char *what, eddy_type t)
{
    char type[120], text[200];
    if (t.shape.rank == 0) return true;
    snprintf(text, sizeof text, "%s is %s, not a scalar", what,
             eddy_type_print(t, type, sizeof type));
    return eddy__program_refuse(a, EDDY_BAD_SHAPE, text);
}

/* The input that is argument `arg` in all iterations; -1: there is none. */
static int captured_input(const assembly *a, int arg)
{
    if (a->node->op->flags & EDDY_OP_CASE) return arg + 1;
    const eddy_loop_attrs *at = a->node->attrs;
    return arg > at->n_carried + at->n_sliced ? arg + at->counted - 1 : -1;
}

/* True if the elements of argument `arg` are the same few integers in all iterations. */
static bool may_be_constant(const assembly *a, int arg)
{
    const eddy_type t = a->feeds[arg].type;
    return captured_input(a, arg) >= 0 && eddy_dtype_is_integer(t.dtype) && t.shape.rank <= 1 &&
           eddy_shape_count(t.shape) <= EDDY_MAX_RANK;
}

/* The body could not be compiled because a shape needs elements: if they are computed from few
 * captured integers, those are needed here. Returns false. */
static bool note_missing_size(assembly *a)
{
    compile          *c = a->c;
    const eddy_graph *body = eddy__body_of(a->node);
    const int32_t     last = c->body_missing_size.node;
    uint8_t          *needed = last ? eddy__ir_alloc(c, (size_t)last + 1, 1) : NULL;
    int               input = -1;
    if (last && !needed) {
        *c->error = (eddy_error){ 0 };
        return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while compiling a plan");
    }
    if (!needed || c->missing_size.node) return false;
    needed[last] = 1;
    for (int32_t id = last; id >= 1; id--) {
        const eddy_node *node = body->nodes[id];
        if (!needed[id]) continue;
        if (id <= a->n_args) {
            if (!may_be_constant(a, id - 1)) return false;
            if (!a->constants[id - 1]) input = captured_input(a, id - 1);
            continue;
        }
        if (node->op->flags & (EDDY_OP_STATEFUL | EDDY_OP_VARIABLE | EDDY_OP_DYNAMIC)) return false;
        for (int i = 0; i < node->n_inputs; i++)
            if (!eddy__input_is_in(node->op->shape_inputs, i)) needed[node->inputs[i].node] = 1;
    }
    if (input >= 0) c->missing_size = a->node->inputs[input];
    return false;
}

bool eddy__program_note_varying(assembly *a)
{
    compile *c = a->c;
    if (c->plan->embedded) c->varies = true;
    else if (c->missing_size.node == 0)
        c->missing_size = eddy__tensor_at(c->graph, a->node->id, EDDY_NODE_ITSELF);
    return false;
}

/* The first argument of a loop that is the same in all iterations; 0: a condition computes in the
 * memory of the body between them, or this is no loop. */
static int first_kept_argument(const assembly *a)
{
    const eddy_loop_attrs *at = a->node->attrs;
    const bool             loops = a->node->op->flags & EDDY_OP_LOOP;
    return loops && !at->conditional ? 1 + (int)(at->n_carried + at->n_sliced) : 0;
}

bool eddy__program_body(assembly *a, body_plan *b, int n_fetches, eddy_type *types)
{
    char part[32] = "body";
    if (b == &a->program->condition) strcpy(part, "condition");
    else if (!(a->node->op->flags & EDDY_OP_LOOP))
        snprintf(part, sizeof part, "branch %d",
                 a->program->first_branch + (int)(b - a->program->bodies));
    a->c->body_part = part;
    a->c->body_of = a->node->name;
    a->c->body_constants = a->constants;
    a->c->quiet_body = eddy__is_quiet(a->node);
    a->c->body_iterates = a->node->op->flags & EDDY_OP_LOOP;
    a->c->body_captured = first_kept_argument(a);
    b->plan = a->c->compile_body(a->c, eddy__body_of(a->node), a->n_args, a->feeds, a->owned,
                                 (eddy_list){ n_fetches, a->fetches });
    if (!b->plan) {
        note_missing_size(a);
        return (a->c->body_varies || a->c->body_missing_size.node) && eddy__program_note_varying(a);
    }
    for (int k = 0; k < n_fetches; k++) {
        const int32_t buffer = b->plan->outputs[k].buffer;
        if (buffer >= 0) types[k] = b->plan->buffers[buffer].type;
    }
    a->c->plan->has_lapack = a->c->plan->has_lapack || b->plan->has_lapack;
    return true;
}

bool eddy__program_set_argument(assembly *a, int arg, eddy_type t)
{
    eddy_graph *body = eddy__body_of(a->node);
    if (arg + 1 > body->size)
        return eddy__program_refuse(a, EDDY_INTERNAL, "the body has too few arguments");
    a->feeds[arg] = (plan_feed){ .tensor = eddy__tensor_at(body, arg + 1, 0), .type = t };
    return true;
}

static bool make_room(assembly *a, int64_t n_results)
{
    a->feeds = eddy__plan_alloc(a->c, (size_t)a->n_args, sizeof *a->feeds);
    a->owned = eddy__plan_alloc(a->c, (size_t)a->n_args + 1, sizeof *a->owned);
    a->constants = eddy__plan_alloc(a->c, (size_t)a->n_args + 1, sizeof *a->constants);
    a->fetches = eddy__plan_alloc(a->c, (size_t)n_results + 1, sizeof *a->fetches);
    a->types = eddy__plan_alloc(a->c, (size_t)n_results + 1, sizeof *a->types);
    return a->feeds && a->owned && a->constants && a->fetches && a->types;
}

static bool is_size(const compile *c, eddy_tensor t)
{
    for (int i = 0; i < c->sizes.count; i++)
        if (eddy_same(c->sizes.at[i], t)) return true;
    return false;
}

void eddy__program_set_constant(assembly *a, int arg, int i)
{
    enum { MOST_BYTES = 4096 };
    const eddy_tensor t = a->node->inputs[i];
    const eddy_array *value = is_size(a->c, t) ? eddy__shape_value(a->c, t)
                                               : eddy__folded_value(a->c, t);
    const bool        folds = !(a->c->without & EDDY_PASS_FOLD);
    if (value && folds && eddy_array_bytes(value) <= MOST_BYTES) a->constants[arg] = value;
}

eddy_type eddy__program_input(const assembly *a, int i)
{
    return eddy__concrete_type(a->c, a->node->inputs[i]);
}

/* ------------------------------------------------------------------ loops -- */

/* The largest number of iterations. */
static bool find_most(assembly *a)
{
    const eddy_loop_attrs *at = a->node->attrs;
    const int              first = at->counted + (int)at->n_carried;
    int64_t                most = at->trips >= 0 ? at->trips : INT64_MAX;
    char                   what[200];
    a->program->open = eddy__loop_is_open(at);
    for (int i = 0; i < at->n_sliced; i++) {
        const eddy_shape s = eddy__program_input(a, first + i).shape;
        if (s.rank < 1) return eddy__program_refuse(a, EDDY_BAD_SHAPE, "a scalar has no rows");
        if (at->open) continue;
        if (i > 0 && !at->conditional && !at->counted && at->trips < 0 && s.dim[0] != most) {
            snprintf(what, sizeof what,
                     "the tensors to loop over differ in their number of rows: %lld and %lld",
                     (long long)most, (long long)s.dim[0]);
            return eddy__program_refuse(a, EDDY_BAD_SHAPE, what);
        }
        if (s.dim[0] < most) most = s.dim[0];
    }
    a->program->most = most;
    return true;
}

static eddy_type row_of(eddy_type t)
{
    eddy_type row = { t.dtype, { .rank = t.shape.rank - 1 } };
    for (int d = 1; d < t.shape.rank; d++) row.shape.dim[d - 1] = t.shape.dim[d];
    return row;
}

static bool loop_arguments(assembly *a)
{
    const eddy_loop_attrs *at = a->node->attrs;
    eddy_program          *p = a->program;
    const int              skip = at->counted - 1;      /* argument i is input i + skip */
    p->slice_row = eddy__plan_alloc(a->c, (size_t)at->n_sliced, sizeof *p->slice_row);
    if (!p->slice_row ||
        !eddy__program_set_argument(a, 0, (eddy_type){ EDDY_INT64, EDDY_SCALAR }))
        return false;
    for (int i = 1; i < a->n_args; i++) {
        eddy_type t = eddy__program_input(a, i + skip);
        const int slice = i - 1 - (int)at->n_carried;
        if (slice >= 0 && slice < at->n_sliced) {
            t = row_of(t);
            p->slice_row[slice] = (size_t)eddy__type_bytes(t);
        }
        if (slice >= at->n_sliced) eddy__program_set_constant(a, i, i + skip);
        if (!eddy__program_set_argument(a, i, t)) return false;
    }
    return true;
}

/* The carried values that the program computes. */
static bool choose_carried(assembly *a, const uint8_t *wanted, const uint8_t *takes)
{
    const eddy_loop_attrs *at = a->node->attrs;
    eddy_program          *p = a->program;
    p->carried = eddy__plan_alloc(a->c, (size_t)at->n_carried, sizeof *p->carried);
    if (!p->carried) return false;
    for (int j = 0; j < at->n_carried; j++) {
        if (!takes[at->counted + j] && !wanted[j]) continue;
        p->carried[p->n_carried] = (carried_value){ .argument = at->counted + j, .output = -1,
                                                    .index = j, .type = a->feeds[1 + j].type };
        a->fetches[p->n_carried++] = eddy__body_out(at->body, at->outs, at->conditional + j);
        a->owned[1 + j] = p->n_carried;
    }
    return true;
}

static bool carried_types_stay(assembly *a)
{
    char before[120], after[120], what[400];
    for (int j = 0; j < a->program->n_carried; j++) {
        const eddy_type t = a->program->carried[j].type, u = a->types[j];
        if (t.dtype == u.dtype && eddy_shape_equal(t.shape, u.shape)) continue;
        snprintf(what, sizeof what,
                 "the shape of loop variable %d changes from %s to %s in an iteration",
                 (int)a->program->carried[j].index, eddy_type_print(t, before, sizeof before),
                 eddy_type_print(u, after, sizeof after));
        eddy__program_refuse(a, EDDY_UNIMPLEMENTED, what);
        return eddy__program_note_varying(a);
    }
    return true;
}

/* Offsets of the bodies' memory, and of the buffers of carried values, in scratch memory. */
static void place_loop(eddy_program *p)
{
    uint64_t at = aligned(p->bodies[0].plan->memory_bytes);
    if (p->condition.plan && p->condition.plan->memory_bytes > at)
        at = aligned(p->condition.plan->memory_bytes);
    for (int j = 0; j < p->n_carried; j++) {
        carried_value *v = &p->carried[j];
        v->bytes = (size_t)eddy__type_bytes(v->type);
        v->at[0] = at;
        if (v->output < 0) at += aligned(v->bytes);
        v->at[1] = at;
        if (p->bodies[0].how[j] != RESULT_IN_PLACE) at += aligned(v->bytes);
    }
    p->scratch_bytes = at;
}

/* The stacks that the nodes of a program want, each once. */
typedef struct stack_list {
    int64_t *at;            /* pairs: node, output */
    int      n;
} stack_list;

static int stack_number(stack_list *l, const int64_t *out)
{
    for (int i = 0; i < l->n; i++)
        if (l->at[2 * i] == out[0] && l->at[2 * i + 1] == out[1]) return i;
    l->at[2 * l->n] = out[0];
    l->at[2 * l->n + 1] = out[1];
    return l->n++;
}

static bool loop_outputs(assembly *a, const uint8_t *wanted, int n_stacks)
{
    eddy_program *p = a->program;
    p->stack_row = eddy__plan_alloc(a->c, (size_t)n_stacks, sizeof *p->stack_row);
    p->outputs =
        eddy__plan_alloc(a->c, (size_t)(p->n_carried + n_stacks) + 1, sizeof *p->outputs);
    if (!p->stack_row || !p->outputs) return false;
    for (int j = 0; j < p->n_carried; j++) {
        if (!wanted[p->carried[j].index]) continue;
        p->carried[j].output = p->n_outputs;
        p->outputs[p->n_outputs++] = p->carried[j].type;
    }
    p->n_stacked = n_stacks;
    p->memory = a->c->plan->open_memory;
    p->allocator = a->c->plan->allocator;
    p->stacks = eddy__plan_alloc(a->c, (size_t)n_stacks, sizeof *p->stacks);
    if (!p->stacks) return false;
    for (int i = 0; i < n_stacks; i++) {
        eddy_type row = a->types[p->n_carried + i], t = { row.dtype, { .rank = 1 } };
        if (row.shape.rank == EDDY_MAX_RANK)
            return eddy__program_refuse(a, EDDY_LIMIT, "a stack would have too many dimensions");
        p->stack_row[i] = (size_t)eddy__type_bytes(row);
        t.shape.rank = row.shape.rank + 1;
        t.shape.dim[0] = p->open ? 0 : p->most;
        for (int d = 0; d < row.shape.rank; d++) t.shape.dim[d + 1] = row.shape.dim[d];
        if (!eddy_shape_is_valid(t.shape))
            return eddy__program_refuse(a, EDDY_LIMIT, "a stack is too large");
        p->outputs[p->n_outputs++] = t;
    }
    p->outputs[p->n_outputs] = (eddy_type){ EDDY_INT64, EDDY_SCALAR };
    p->n_outputs += p->counts;
    return true;
}

static bool compile_loop(assembly *a, const uint8_t *wanted, const uint8_t *takes,
                         const stack_list *stacks)
{
    const eddy_loop_attrs *at = a->node->attrs;
    eddy_program          *p = a->program;
    const int64_t          results = eddy__loop_results(at), outs = at->outs.count / 2;
    if (!find_most(a) || !loop_arguments(a)) return false;
    p->n_sliced = (int32_t)at->n_sliced;
    if (at->conditional) {
        a->fetches[0] = eddy__body_out(at->body, at->outs, 0);
        if (!eddy__program_body(a, &p->condition, 1, a->types) ||
            !eddy__program_is_scalar(a, "the condition", a->types[0]))
            return false;
        if (!eddy__program_set_results(a, &p->condition, 0, NULL)) return false;
    }
    if (!choose_carried(a, wanted, takes)) return false;
    int n = p->n_carried;
    for (int i = 0; i < stacks->n; i++)
        a->fetches[n++] = (eddy_tensor){ at->body, (int32_t)stacks->at[2 * i],
                                         (int32_t)stacks->at[2 * i + 1] };
    for (int64_t i = results; i < outs && !eddy__program_is_quiet(a); i++)
        a->fetches[n++] = eddy__body_out(at->body, at->outs, i);
    p->bodies = eddy__plan_alloc(a->c, 1, sizeof *p->bodies);
    p->n_bodies = p->bodies ? 1 : 0;
    if (!p->bodies || !eddy__program_body(a, p->bodies, n, a->types) || !carried_types_stay(a) ||
        !eddy__program_set_results(a, p->bodies, p->n_carried, p->carried) ||
        !loop_outputs(a, wanted, stacks->n))
        return false;
    place_loop(p);
    return true;
}

/* Where the node's outputs are among the program's. */
static void map_loop_outputs(const eddy_program *p, const eddy_node *node, body_use *u,
                             stack_list *stacks)
{
    const eddy_loop_attrs *at = node->attrs;
    const int64_t          base = at->conditional + at->n_carried;
    for (int k = 0; k < node->n_outputs; k++) u->output[k] = -1;
    for (int j = 0; j < p->n_carried; j++)
        if (u->outs[p->carried[j].index]) u->output[p->carried[j].index] = p->carried[j].output;
    const int first = p->n_outputs - p->counts - p->n_stacked;
    for (int k = 0; k < at->n_stacked; k++)
        if (eddy__computes_stack(at, u, k))
            u->output[at->n_carried + k] =
                first + stack_number(stacks, &at->outs.at[2 * (base + k)]);
    if (u->outs[node->n_outputs - 1]) u->output[node->n_outputs - 1] = p->n_outputs - 1;
}

/* ------------------------------------------------------------- the program -- */

/* The outputs and inputs that the nodes of a program need together. */
typedef struct program_needs {
    uint8_t     *outs, *takes;      /* by carried value; by input */
    stack_list   stacks;
    bool         counts;
    case_result *results;
    int          n_results;
} program_needs;

static void add_needs(compile *c, const eddy_node *node, const eddy_node *other, program_needs *w)
{
    const body_use *u = c->bodies[other->id];
    for (int i = 0; i < node->n_inputs; i++) w->takes[i] |= u->takes[i];
    if (node->op->flags & EDDY_OP_CASE) {
        for (int k = 0; k < other->n_outputs; k++)
            if (u->outs[k]) eddy__case_result_number(w->results, &w->n_results, other, k);
        return;
    }
    const eddy_loop_attrs *at = other->attrs;
    for (int j = 0; j < at->n_carried; j++) w->outs[j] |= u->outs[j];
    for (int k = 0; k < at->n_stacked; k++)
        if (eddy__computes_stack(at, u, k))
            stack_number(&w->stacks, &at->outs.at[2 * (at->conditional + at->n_carried + k)]);
    w->counts = w->counts || u->outs[other->n_outputs - 1];
}

static bool shares_program(const compile *c, const eddy_node *first, int32_t id)
{
    const eddy_node *other = c->graph->nodes[id];
    return c->info[id].needed && eddy__has_body(other) && eddy__may_share(first, other);
}

static void map_case_outputs(const eddy_node *node, body_use *u, program_needs *w)
{
    for (int k = 0; k < node->n_outputs; k++)
        u->output[k] =
            u->outs[k] ? eddy__case_result_number(w->results, &w->n_results, node, k) : -1;
}

/* Compiles the program that `node`, the first of its nodes, shares with later ones. */
static bool make_program(compile *c, const eddy_node *node)
{
    const int64_t results = node->n_outputs + eddy__body_of(node)->size;
    assembly      a = { .c = c, .node = node, .n_args = eddy__body_args(node) };
    program_needs w = { .outs = eddy__plan_alloc(c, (size_t)results, 1),
                        .takes = eddy__plan_alloc(c, (size_t)node->n_inputs + 1, 1) };
    int64_t n_stacks = 1;
    for (int32_t id = node->id; id <= c->size; id++)
        if (shares_program(c, node, id)) n_stacks += c->graph->nodes[id]->n_outputs;
    w.stacks.at = eddy__plan_alloc(c, 2 * (size_t)n_stacks, sizeof *w.stacks.at);
    w.results = eddy__plan_alloc(c, (size_t)n_stacks, sizeof *w.results);
    a.program = eddy__plan_alloc(c, 1, sizeof *a.program);
    if (!w.outs || !w.takes || !w.stacks.at || !w.results || !a.program ||
        !make_room(&a, results + n_stacks))
        return false;
    for (int32_t id = node->id; id <= c->size; id++)
        if (shares_program(c, node, id)) add_needs(c, node, c->graph->nodes[id], &w);
    a.program->node = node;
    a.program->takes = w.takes;
    a.program->counts = w.counts;
    a.program->next = c->plan->programs;
    c->plan->programs = a.program;
    const bool loop = node->op->flags & EDDY_OP_LOOP;
    if (!(loop ? compile_loop(&a, w.outs, w.takes, &w.stacks)
               : eddy__case_compile(&a, w.results, w.n_results)))
        return false;
    for (int32_t id = node->id; id <= c->size; id++) {
        if (!shares_program(c, node, id)) continue;
        body_use *u = c->bodies[id];
        u->program = a.program;
        u->leader = node->id;
        if (loop) map_loop_outputs(a.program, c->graph->nodes[id], u, &w.stacks);
        else map_case_outputs(c->graph->nodes[id], u, &w);
    }
    return true;
}

bool eddy__body_compile(compile *c, const eddy_node *node)
{
    return (c->bodies[node->id]->program || make_program(c, node)) && eddy__body_set_types(c, node);
}

void eddy__program_free(eddy_program *p)
{
    eddy__stacks_free(p);
    eddy__plan_free(p->condition.plan);
    for (int b = 0; b < p->n_bodies; b++) eddy__plan_free(p->bodies[b].plan);
}
