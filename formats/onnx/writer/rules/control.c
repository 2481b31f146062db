/* control.c -- loops and branches. The nodes of a body are written into subgraphs, which see the
 * values around them, so that captured tensors need no inputs. */
#include "subgraphs.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OUTPUTS = 256 };

static eddy_tensor body_out(eddy_graph *body, eddy_ints outs, int64_t i)
{
    return eddy_output(eddy_node_at(body, (int32_t)outs.at[2 * i]), (int)outs.at[2 * i + 1]);
}

static bool enter(onnx_part *p, eddy_graph *body)
{
    onnx_writer *w = p->writer;
    if (++w->depth > DEEPEST) return eddy__part_missing(p, "loops are nested too deeply");
    return eddy__scope_begin(w, body,
                             eddy__region_print(&w->memory, "%s%s:b%d/", w->scope->prefix,
                                                p->node->name, w->values++));
}

static void leave(onnx_part *p)
{
    p->writer->depth--;
    eddy__scope_end(p->writer);
}

/* The rule of a node within failed, or there was no memory. */
static bool write_body(onnx_part *p, int n, const eddy_tensor *outputs)
{
    return (eddy__scope_mark(p->writer, n, outputs) && eddy__scope_write_marked(p->writer)) ||
           p->writer->failed;
}

/* ----------------------------------------------------------------- branches -- */

typedef struct branches {
    eddy_graph *body;
    eddy_ints   outs;
    int64_t     n, n_out;
    int         n_read, read[MOST_OUTPUTS];     /* outputs */
} branches;

/* In the scope around the body. Only what its marked nodes reach has been found. */
static const writer_use *use_of(const onnx_part *p) { return p->scope->uses[p->node->id]; }

/* The captured values are arguments of the body. */
static bool bind_captured(onnx_part *p, eddy_graph *body, int first_argument, int first_input)
{
    onnx_writer *w = p->writer;
    for (int i = first_input; i < p->node->n_inputs; i++) {
        if (!use_of(p)->takes[i]) continue;
        const char *name = eddy__part_in(p, i);
        if (p->failed || w->failed ||
            !eddy__scope_bind(w, eddy_node_at(body, first_argument + i - first_input), name))
            return false;
    }
    return true;
}

static bool write_branch(onnx_part *p, const branches *b, int64_t branch, message *graph)
{
    eddy_tensor *results =
        eddy__region_take(&p->writer->memory, (size_t)b->n_read, sizeof *results);
    message      head = { 0 };
    if (!results || !enter(p, b->body)) return eddy__writer_no_memory(p->writer);
    for (int m = 0; m < b->n_read; m++)
        results[m] = body_out(b->body, b->outs, branch * b->n_out + b->read[m]);
    bool ok = bind_captured(p, b->body, 1, 1) && write_body(p, b->n_read, results);
    for (int m = 0; ok && !p->writer->failed && m < b->n_read; m++)
        eddy__inner_graph_output(p, &head, eddy__scope_name(p->writer->scope, results[m]),
                                 p->node->outputs[b->read[m]]);
    *graph = eddy__inner_graph_end(p, &head, (message){ 0 });
    leave(p);
    return ok && !p->writer->failed;
}

/* The branch with this number where the index is equal to it, else the other graph. */
static onnx_call choose(onnx_part *p, const char *is_this, message *branch, message *other)
{
    onnx_call c = eddy__call(p, "If", 1, &is_this);
    eddy__call_graph(&c, "then_branch", branch);
    eddy__call_graph(&c, "else_branch", other);
    return c;
}

static bool case_of(onnx_part *p)
{
    branches    b = { .body = eddy__part_graph(p, "body"), .outs = eddy__part_int_list(p, "outs"),
                      .n = eddy__part_int(p, "n_branches"), .n_out = eddy__part_int(p, "n_out") };
    const char *names[MOST_OUTPUTS];
    message     other = { 0 };
    if (b.n_out == 0) return true;
    if (b.n_out > MOST_OUTPUTS || b.n > MOST_OUTPUTS)
        return eddy__part_missing(p, "there are more than %d outputs or branches",
                                  (int)MOST_OUTPUTS);
    for (int k = 0; k < b.n_out; k++)
        if (use_of(p)->read[k]) b.read[b.n_read++] = k;
    if (b.n_read == 0) return true;
    const char *index = eddy__part_in(p, 0);
    if (p->failed || !write_branch(p, &b, b.n - 1, &other)) return false;
    /* A single branch is both. */
    for (int64_t i = b.n == 1 ? 0 : b.n - 2; i >= 0; i--) {
        message     branch = { 0 }, head = { 0 };
        const char *is_this = eddy__part_binary(
            p, "Equal", index, eddy__part_number(p, eddy__part_dtype(p, 0), (double)i));
        if (!write_branch(p, &b, i, &branch)) {
            eddy__message_free(&other);
            eddy__message_free(&branch);
            return false;
        }
        if (i == 0) {
            onnx_call c = choose(p, is_this, &branch, &other);
            eddy__call_outputs(&c, b.n_read, names);
            break;
        }
        /* The choice is a graph of its own, the alternative of the branch before. */
        const message kept = eddy__inner_graph_begin(p);
        onnx_call c = choose(p, is_this, &branch, &other);
        eddy__call_outputs(&c, b.n_read, names);
        for (int m = 0; m < b.n_read; m++)
            eddy__writer_value_info(&head, GRAPH_OUTPUT, names[m], p->node->outputs[b.read[m]]);
        other = eddy__inner_graph_end(p, &head, kept);
    }
    for (int m = 0; m < b.n_read; m++) eddy__part_put(p, b.read[m], names[m]);
    return true;
}

/* -------------------------------------------------------------------- loops -- */

typedef struct loop {
    eddy_graph *body;
    eddy_ints   outs;
    int         carried, sliced, stacked, counted;
    bool        conditional, reverse;
    const char *count;              /* the most iterations, an int64 scalar; "" without a limit */
    const char *room;               /* the same without the count that is an input */
    int         kept[MOST_OUTPUTS], n_kept, n_kept_carried;     /* outputs, carried ones first */
} loop;

static const char *smaller_of(onnx_part *p, const char *a, const char *b)
{
    return *a && *b ? eddy__part_binary(p, "Min", a, b) : *a ? a : b;
}

/* Input i, behind the count. */
static int input_of(const loop *l, int i) { return l->counted + i; }

/* Carried values that are read or that later iterations need, and stacks that are read. */
static void choose_outputs(const onnx_part *p, loop *l)
{
    const writer_use *u = use_of(p);
    for (int k = 0; k < l->carried + l->stacked; k++) {
        if (!(k < l->carried ? u->takes[input_of(l, k)] : u->read[k])) continue;
        l->kept[l->n_kept++] = k;
        l->n_kept_carried += k < l->carried;
    }
}

static void limits(onnx_part *p, loop *l)
{
    const int64_t trips = eddy__part_int(p, "trips");
    l->room = trips >= 0 ? eddy__part_number(p, EDDY_INT64, (double)trips) : "";
    for (int i = 0; i < l->sliced; i++) {
        const int        k = input_of(l, l->carried + i);
        const eddy_shape s = eddy__part_type(p, k).shape;
        const char *x = use_of(p)->takes[k] ? eddy__part_in(p, k) : "";     /* its rows are known */
        const char *rows = eddy__part_size(p, x, s, 0);
        l->room = smaller_of(p, l->room,
                             eddy__part_binary(p, "Squeeze", rows, eddy__part_one(p, 0)));
    }
    l->count = l->counted ? smaller_of(p, l->room, eddy__part_in(p, 0)) : l->room;
}

/* Binds the arguments of the body, which is the innermost graph, that its marked nodes need:
 * `iteration` is the number of the row, carried are the values, NULL where one is not kept. */
static bool bind_arguments(onnx_part *p, const loop *l, const char *iteration,
                           const char *const *carried)
{
    onnx_writer *w = p->writer;
    if (!eddy__scope_bind(w, eddy_node_at(l->body, 1), iteration)) return false;
    for (int i = 0; i < l->carried; i++)
        if (carried[i] && !eddy__scope_bind(w, eddy_node_at(l->body, 2 + i), carried[i]))
            return false;
    for (int i = 0; i < l->sliced; i++) {
        const int32_t id = 2 + l->carried + i;
        if (!w->scope->live[id]) continue;
        const char *x = eddy__part_in(p, input_of(l, l->carried + i));
        if (!eddy__scope_bind(w, eddy_node_at(l->body, id),
                              eddy__part_binary(p, "Gather", x, iteration)))
            return false;
    }
    return bind_captured(p, l->body, 2 + l->carried + l->sliced,
                         input_of(l, l->carried + l->sliced));
}

/* Writes the condition in a copy of the body's nodes, into the graph around; its name, or NULL. */
static const char *condition(onnx_part *p, const loop *l, const char *iteration,
                             const char *const *carried)
{
    const eddy_tensor cond = body_out(l->body, l->outs, 0);
    onnx_writer      *w = p->writer;
    const char       *name = NULL;
    if (!enter(p, l->body)) return NULL;
    if (eddy__scope_mark(w, 1, &cond) && bind_arguments(p, l, iteration, carried) &&
        write_body(p, 1, &cond) && !w->failed)
        name = eddy__scope_name(w->scope, cond);
    message nodes = w->scope->nodes;
    w->scope->nodes = (message){ 0 };
    leave(p);
    eddy__message_append(&w->scope->nodes, nodes.at, nodes.size);
    w->scope->nodes.full = w->scope->nodes.full || nodes.full;
    eddy__message_free(&nodes);
    return name;
}

/* The number of the row, from that of the iteration. */
static const char *row_of(onnx_part *p, const loop *l, const char *iteration)
{
    if (!l->reverse) return iteration;
    return eddy__part_formula(p, EDDY_INT64, "Sub(Sub(a, 1), b)", l->count, iteration);
}

/* The body as a graph: its inputs are the iteration, the condition, carried values, and a counter
 * if the loop is conditional. */
static bool write_iteration(onnx_part *p, const loop *l, message *graph)
{
    const int    n = l->n_kept;
    onnx_writer *w = p->writer;
    message      head = { 0 };
    const char *names[MOST_OUTPUTS] = { 0 }, *next[MOST_OUTPUTS] = { 0 }, *iteration, *go, *counter;
    eddy_tensor  results[MOST_OUTPUTS];
    const eddy_type number = { EDDY_INT64, EDDY_SCALAR }, truth = { EDDY_BOOL, EDDY_SCALAR };
    if (!enter(p, l->body)) return false;
    iteration = eddy__inner_graph_input(p, &head, "i", number);
    go = eddy__inner_graph_input(p, &head, "go", truth);
    for (int m = 0; m < l->n_kept_carried; m++)
        names[l->kept[m]] =
            eddy__inner_graph_input(p, &head, "carried", p->node->outputs[l->kept[m]]);
    counter = l->conditional ? eddy__inner_graph_input(p, &head, "n", number) : "";
    for (int m = 0; m < n; m++)
        results[m] = body_out(l->body, l->outs, l->conditional + l->kept[m]);
    bool ok = eddy__scope_mark(w, n, results) &&
              bind_arguments(p, l, row_of(p, l, iteration), names) && write_body(p, n, results) &&
              !w->failed;
    for (int m = 0; ok && m < n; m++)
        next[l->kept[m]] = eddy__scope_name(w->scope, results[m]);
    if (ok && l->conditional) {
        const char *after = eddy__part_formula(p, EDDY_INT64, "Add(a, 1)", iteration);
        /* A row behind the last is not there to be read; then no condition matters. */
        if (l->sliced > 0)
            after = eddy__part_formula(p, EDDY_INT64, "Min(a, Sub(b, 1))", after, l->room);
        go = condition(p, l, row_of(p, l, after), next);
    }
    ok = ok && go;
    if (ok) {
        eddy__inner_graph_output(p, &head, go, truth);
        for (int m = 0; m < n; m++) {
            eddy_type t = p->node->outputs[l->kept[m]];
            if (m >= l->n_kept_carried)
                t = (eddy_type){ eddy_dtype_of(results[m]), eddy_shape_of(results[m]) };
            eddy__inner_graph_output(p, &head, next[l->kept[m]], t);
            if (m == l->n_kept_carried - 1 && l->conditional)
                eddy__inner_graph_output(
                    p, &head, eddy__part_formula(p, EDDY_INT64, "Add(a, 1)", counter), number);
        }
        if (l->n_kept_carried == 0 && l->conditional)
            ok = eddy__part_missing(p, "nothing is carried");
    }
    *graph = eddy__inner_graph_end(p, &head, (message){ 0 });
    leave(p);
    return ok;
}

/* A stack has the rows of the iterations in their order; Eddy's in the order of the rows, with
 * zeros where there was no iteration. */
static const char *settle_stack(onnx_part *p, const loop *l, const char *x, int k, const char *n)
{
    const eddy_shape s = p->node->outputs[k].shape;
    if (l->reverse) {
        const char *const in[] = { x, eddy__part_one(p, -1), eddy__part_one(p, INT64_MIN),
                                   eddy__part_one(p, 0), eddy__part_one(p, -1) };
        onnx_call c = eddy__call(p, "Slice", 5, in);
        x = eddy__call_end(&c);
    }
    if ((!l->conditional && !l->counted) || !*l->room || s.rank < 1) return x;
    int64_t     zeros[EDDY_MAX_RANK] = { 0 };
    const char *zero = eddy__part_one(p, 0), *others = eddy__part_ints(p, s.rank - 1, zeros);
    const char *before =
        l->reverse ? eddy__part_formula(p, EDDY_INT64, "Unsqueeze(Sub(a, b), c)", l->count, n, zero)
                   : zero;
    const char       *after = eddy__part_formula(p, EDDY_INT64, "Sub(Unsqueeze(Sub(a, b), c), d)",
                                                 l->room, n, zero, before);
    const char *const pads[] = { before, others, after, others };
    const char *const in[] = { x, eddy__part_concat(p, 0, 4, pads),
                               eddy__part_number(p, p->node->outputs[k].dtype, 0) };
    onnx_call c = eddy__call(p, "Pad", 3, in);
    return eddy__call_end(&c);
}

static bool loop_of(onnx_part *p)
{
    loop l = { .body = eddy__part_graph(p, "body"), .outs = eddy__part_int_list(p, "outs"),
               .carried = (int)eddy__part_int(p, "n_carried"),
               .sliced = (int)eddy__part_int(p, "n_sliced"),
               .stacked = (int)eddy__part_int(p, "n_stacked"),
               .counted = eddy__part_bool(p, "counted"),
               .conditional = eddy__part_bool(p, "conditional"),
               .reverse = eddy__part_bool(p, "reverse") };
    const char *in[MOST_OUTPUTS + 3], *out[MOST_OUTPUTS + 1], *first[MOST_OUTPUTS] = { 0 };
    message     graph = { 0 };
    const int   n = l.carried + l.stacked;
    if (n >= MOST_OUTPUTS)
        return eddy__part_missing(p, "more than %d values change", (int)MOST_OUTPUTS);
    choose_outputs(p, &l);
    limits(p, &l);
    if (l.n_kept == 0 && !l.conditional) return eddy__part_put(p, n, l.count);
    if (l.reverse && !*l.count)
        return eddy__part_missing(p, "it runs backwards without a number of rows");
    for (int m = 0; m < l.n_kept_carried; m++)
        in[2 + m] = first[l.kept[m]] = eddy__part_in(p, input_of(&l, l.kept[m]));
    if (p->failed) return false;
    in[0] = l.count;
    in[1] = l.conditional ? NULL : eddy__part_number(p, EDDY_BOOL, 1);
    if (l.conditional)
        in[1] = condition(p, &l, row_of(p, &l, eddy__part_number(p, EDDY_INT64, 0)), first);
    in[2 + l.n_kept_carried] = eddy__part_number(p, EDDY_INT64, 0);
    if (!in[1] || !write_iteration(p, &l, &graph)) {
        eddy__message_free(&graph);
        return false;
    }
    onnx_call c = eddy__call(p, "Loop", 2 + l.n_kept_carried + l.conditional, in);
    eddy__call_graph(&c, "body", &graph);
    eddy__call_outputs(&c, l.n_kept + l.conditional, out);
    const char *count = l.conditional ? out[l.n_kept_carried] : l.count;
    for (int m = 0; m < l.n_kept; m++) {
        const int k = l.kept[m];
        eddy__part_put(p, k, m < l.n_kept_carried
                                 ? out[m]
                                 : settle_stack(p, &l, out[m + l.conditional], k, count));
    }
    return eddy__part_put(p, n, count);
}

static const onnx_row rows[] = {
    { "Loop", loop_of },
    { "Case", case_of },
};

const onnx_family eddy__write_control = FAMILY_OF(rows);
