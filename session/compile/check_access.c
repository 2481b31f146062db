/* check_access.c -- the check of a plan: reads and writes of memory. */
#include "session/compile/check_plan.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"

bool eddy__check_fail(const checker *c, const char *what)
{
    const eddy_plan *p = c->p;
    const char *name = c->at < p->n_code ? p->code[c->at].call.node->name : "the fetches";
    return eddy__error_set(c->error, EDDY_INTERNAL, "the plan is wrong at instruction %d, %s: %s",
                           (int)c->at, name, what);
}

/* A carried value of a loop, which the plan of its body may overwrite. */
static bool is_owned(const checker *c, int32_t root)
{
    return c->p->roots[root].kind == VALUE_FEED && c->p->roots[root].owner > 0;
}

/* Memory that only instructions write: in the arena, or of a result; or may overwrite. */
static bool is_written_memory(const checker *c, int32_t root)
{
    const value_kind kind = c->p->roots[root].kind;
    return is_owned(c, root) ||
           (kind != VALUE_FEED && kind != VALUE_CONSTANT && kind != VALUE_VARIABLE);
}

static size_t bytes_of(const eddy_buffer *b)
{
    return (size_t)b->count * eddy_dtype_size(b->type.dtype);
}

/* Two buffers have bytes in common. */
bool eddy__check_overlap(const checker *c, const eddy_buffer *a, const eddy_buffer *b)
{
    return root_of(c, a) == root_of(c, b) && begin_of(c, a) < begin_of(c, b) + bytes_of(b) &&
           begin_of(c, b) < begin_of(c, a) + bytes_of(a);
}

/* The buffer that holds the elements of b and was written by an instruction: b itself, or an
 * earlier buffer of which b is an alias. */
int32_t eddy__check_source(const checker *c, const eddy_buffer *b)
{
    const int32_t root = root_of(c, b);
    int32_t       n = buffer_number(c, b);
    while (n >= 0 && !(c->written[n] && c->p->buffer_root[n] == root)) n--;
    return n;
}

/* True if later runs read the root's value where this run wrote it. */
static bool is_kept(const checker *c, int32_t root)
{
    return c->at >= c->p->n_invariant && c->first[root] != NEVER &&
           c->first[root] < c->p->n_invariant;
}

/* True if a change of the variable makes the next run recompute the kept values. */
static bool is_source(const eddy_plan *p, const plan_root *r)
{
    for (int32_t i = 0; i < p->n_sources; i++)
        if (r->kind == VALUE_VARIABLE && p->sources[i].state == p->variables[r->index].state)
            return true;
    return false;
}

/* Checks that memory written by one chain is neither read nor written by another. */
bool eddy__check_note(checker *c, const eddy_buffer *b, bool writes)
{
    int32_t *last = &c->last_access[root_of(c, b)];
    if (c->chain < 0) return true;
    for (int32_t i = *last; i >= 0; i = c->accesses[i].other) {
        const access *a = &c->accesses[i];
        if (a->chain != c->chain && (a->writes || writes) && eddy__check_overlap(c, a->of, b))
            return eddy__check_fail(c, "chains that depend on each other");
    }
    c->accesses[c->n_accesses] = (access){ b, c->chain, *last, writes };
    *last = c->n_accesses++;
    return true;
}

/* Records an access to the memory of b. In the arena, b must lie inside its root. */
static bool note_access_of(checker *c, const eddy_buffer *b)
{
    const eddy_plan *p = c->p;
    const int32_t    r = root_of(c, b);
    const plan_root *root = &p->roots[r];
    if (root->kind != VALUE_TEMP) return true;
    if (root->bytes == 0 && eddy_shape_count(b->type.shape) == 0) return true; /* an open stack */
    if (b->data != (char *)p->memory + root->offset + begin_of(c, b))
        return eddy__check_fail(c, "memory of another root");
    if (begin_of(c, b) + bytes_of(b) > root->bytes)
        return eddy__check_fail(c, "more elements than memory");
    if (root->offset > p->memory_bytes || root->bytes > p->memory_bytes - root->offset)
        return eddy__check_fail(c, "memory beyond the arena");
    if (c->first[r] == NEVER) {
        c->first[r] = c->time;
        c->chain_of[r] = c->chain;
    }
    if (c->chain_of[r] != c->chain) c->chain_of[r] = -1;
    c->last[r] = is_kept(c, r) ? c->begin[p->n_code] : c->time;
    return true;
}

bool eddy__check_read(checker *c, const eddy_buffer *b)
{
    const int32_t    r = root_of(c, b);
    const plan_root *root = &c->p->roots[r];
    if (c->at < c->p->n_invariant && root->kind != VALUE_CONSTANT && root->kind != VALUE_TEMP &&
        !is_source(c->p, root))
        return eddy__check_fail(c, "an operand that changes from run to run");
    if (!eddy__check_note(c, b, false)) return false;
    if (!is_written_memory(c, r)) return true;
    if (c->holds[r] < 0 && !is_owned(c, r))
        return eddy__check_fail(c, "an operand that was not computed");
    if (!c->p->roots[r].has_views && c->holds[r] != eddy__check_source(c, b))
        return eddy__check_fail(c, "an operand that was overwritten");
    return note_access_of(c, b);
}

/* b is in the memory of a carried value, after a buffer that stands for the value itself. */
static bool may_change(const checker *c, const eddy_buffer *b)
{
    int32_t first = 0;
    while (c->p->buffer_root[first] != root_of(c, b)) first++;
    return is_owned(c, root_of(c, b)) && first < buffer_number(c, b);
}

/* The memory of an operand that was packed before is written, and read in that form later. */
static bool is_packed(const checker *c, int32_t root)
{
    for (const shared_operand *s = c->p->shared; s; s = s->next)
        if (root_of(c, s->operand) == root &&
            (s->lasts || (c->at >= s->first && c->at < s->last))) return true;
    return false;
}

bool eddy__check_write(checker *c, const eddy_buffer *b, const eddy_op_def *op)
{
    const int32_t    r = root_of(c, b);
    const value_kind kind = c->p->roots[r].kind;
    if (c->at < c->p->n_invariant && kind != VALUE_TEMP)
        return eddy__check_fail(c, "a result that is not kept");
    if (is_kept(c, r) || is_source(c->p, &c->p->roots[r]))
        return eddy__check_fail(c, "what is kept is changed");
    if ((kind == VALUE_FEED && !may_change(c, b)) || kind == VALUE_CONSTANT)
        return eddy__check_fail(c, "what is given is changed");
    if (kind == VALUE_VARIABLE && !(op->flags & EDDY_OP_UPDATES))
        return eddy__check_fail(c, "a variable is changed by what does not update it");
    if (is_packed(c, r)) return eddy__check_fail(c, "a packed operand is changed");
    c->holds[r] = buffer_number(c, b);
    return eddy__check_note(c, b, true) && note_access_of(c, b);
}
