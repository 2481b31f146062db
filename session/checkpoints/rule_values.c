/* rule_values.c -- values of variables from those of entries by a rule, and the reverse.
 *
 * In between is one array, the whole: the variables joined along one axis are the whole, and the
 * entries, brought to the axes and to the order of parts that the variables have, are joined along
 * another axis or added. Each step has an inverse. */
#include "session/checkpoints/internal.h"

#include <string.h>

typedef struct rule_call {
    const eddy_allocator *allocator;
    const rule_match     *match;
    eddy_error           *error;
} rule_call;

static void free_all(int n, eddy_array **x)
{
    for (int i = 0; i < n; i++) {
        eddy_array_free(x[i]);
        x[i] = NULL;
    }
}

static eddy_array *join(const rule_call *c, int n, eddy_array *const *x, int axis)
{
    if (n == 1) return eddy_array_retain(x[0]);
    return eddy__join_arrays(c->allocator, n, x, axis, c->match->variables[0], c->error);
}

static eddy_array *slice(const rule_call *c, const eddy_array *x, int axis, int64_t begin,
                         int64_t size)
{
    return eddy__slice_array(c->allocator, x, axis, begin, size, c->match->variables[0], c->error);
}

static bool fail(const rule_call *c, const char *what)
{
    return eddy__error_set(c->error, EDDY_BAD_SHAPE, "'%.200s' cannot be divided: %s",
                           c->match->variables[0], what);
}

static bool can_be_added(const rule_call *c, const eddy_array *x)
{
    const eddy_dtype d = eddy_array_dtype(x);
    return eddy_dtype_is_floating(d) ||
           eddy__error_set(c->error, EDDY_BAD_DTYPE, "'%.200s' is %s; its rule adds numbers, which "
                           "must be floating", c->match->variables[0], eddy_dtype_name(d));
}

/* ---------------------------------------------------- parts of the last axis -- */

static int64_t last_of(const eddy_array *x)
{
    const eddy_shape s = eddy_array_shape(x);
    return s.rank > 0 ? s.dim[s.rank - 1] : 0;
}

static bool reorders(const eddy_checkpoint_rule *r)
{
    for (int k = 0; k < r->parts; k++)
        if (r->order[k] != 0) return true;
    return false;
}

/* Part k of the result is part order[k], or with `back` the reverse. */
static eddy_array *reordered(const rule_call *c, eddy_array *x, bool back)
{
    const eddy_checkpoint_rule *r = &c->match->rule;
    eddy_array   *parts[EDDY_RULE_NAMES] = { NULL }, *y = NULL;
    const int64_t n = last_of(x);
    if (!reorders(r)) return eddy_array_retain(x);
    if (n % r->parts != 0) return fail(c, "the parts of its last axis are not equal"), NULL;
    const int64_t size = n / r->parts;
    bool          ok = true;
    for (int k = 0; k < r->parts && ok; k++) {
        eddy_array **to = &parts[back ? r->order[k] : k];
        *to = slice(c, x, -1, size * (back ? k : r->order[k]), size);
        ok = *to != NULL;
    }
    if (ok)
        y = eddy__join_arrays(c->allocator, r->parts, parts, -1, c->match->variables[0], c->error);
    free_all(r->parts, parts);
    return y;
}

/* Adds x to the part of the forget gate, which the rule names. */
static bool add_to_forget(const rule_call *c, eddy_array *whole, double x)
{
    const eddy_checkpoint_rule *r = &c->match->rule;
    if (x == 0) return true;
    if (!can_be_added(c, whole)) return false;
    const int64_t size = eddy_array_count(whole) / r->parts;
    if (eddy_array_shape(whole).rank != 1 || size * r->parts != eddy_array_count(whole))
        return fail(c, "the parts of its only axis are not equal");
    eddy__add_number(whole, size * (r->forget_part - 1), size, x);
    return true;
}

/* --------------------------------------------------------- added entries -- */

/* The sum of the first parts of the entries, then their other parts. */
static eddy_array *added(const rule_call *c, int n, eddy_array *const *x)
{
    const eddy_checkpoint_rule *r = &c->match->rule;
    eddy_array   *pieces[EDDY_RULE_NAMES + 1] = { NULL }, *y = NULL;
    const int64_t all = last_of(x[0]), sum = all / r->parts * r->added;
    if (all % r->parts != 0) return fail(c, "the parts of its entry are not equal"), NULL;
    if (!can_be_added(c, x[0])) return NULL;
    bool ok = (pieces[0] = slice(c, x[0], -1, 0, sum)) != NULL;
    for (int i = 0; i < n && ok; i++) {
        eddy_array *first = NULL;
        ok = eddy_shape_equal(eddy_array_shape(x[i]), eddy_array_shape(x[0])) ||
             fail(c, "its entries have different shapes");
        ok = ok && (i == 0 || (first = slice(c, x[i], -1, 0, sum)) != NULL);
        if (first) eddy__add_array(pieces[0], first);
        eddy_array_free(first);
        ok = ok && (pieces[i + 1] = slice(c, x[i], -1, sum, all - sum)) != NULL;
    }
    if (ok)
        y = eddy__join_arrays(c->allocator, n + 1, pieces, -1, c->match->variables[0], c->error);
    free_all(n + 1, pieces);
    return y;
}

static eddy_array *zeros_like(const rule_call *c, const eddy_array *x)
{
    eddy_array *y = eddy_array_new_in(c->allocator, eddy_array_dtype(x), eddy_array_shape(x));
    if (y && eddy_array_bytes(y) > 0) memset(eddy_array_data(y), 0, eddy_array_bytes(y));
    if (!y)
        eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory for '%.200s'",
                        c->match->variables[0]);
    return y;
}

/* The reverse: the first entry gets the sum. */
static bool subtracted(const rule_call *c, eddy_array *whole, int n, eddy_array **x)
{
    const eddy_checkpoint_rule *r = &c->match->rule;
    const int64_t all = last_of(whole), units = r->added + n * (r->parts - r->added);
    if (all % units != 0) return fail(c, "the parts of its last axis are not equal");
    const int64_t size = all / units, sum = size * r->added, rest = size * (r->parts - r->added);
    bool          ok = true;
    for (int i = 0; i < n && ok; i++) {
        eddy_array *pieces[2] = { slice(c, whole, -1, 0, sum),
                                  slice(c, whole, -1, sum + i * rest, rest) };
        if (i > 0 && pieces[0]) {
            eddy_array *none = zeros_like(c, pieces[0]);
            eddy_array_free(pieces[0]);
            pieces[0] = none;
        }
        x[i] = pieces[0] && pieces[1] ? join(c, 2, pieces, -1) : NULL;
        ok = x[i] != NULL;
        free_all(2, pieces);
    }
    return ok;
}

/* ------------------------------------------------------- rows of one entry -- */

/* The rows of an entry with one axis more. */
static bool rows_of(const rule_call *c, eddy_array *x, eddy_array **rows)
{
    eddy_shape s = eddy_array_shape(x);
    const int  n = c->match->rule.rows;
    if (s.rank == 0 || s.dim[0] != n) return fail(c, "its entry has another number of rows");
    const size_t bytes = eddy_array_bytes(x) / (size_t)n;
    for (int i = 1; i < s.rank; i++) s.dim[i - 1] = s.dim[i];
    s.rank--;
    for (int i = 0; i < n; i++) {
        rows[i] = eddy_array_new_in(c->allocator, eddy_array_dtype(x), s);
        if (!rows[i])
            return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory for '%.200s'",
                                   c->match->variables[0]);
        if (bytes > 0)
            memcpy(eddy_array_data(rows[i]), (char *)eddy_array_data(x) + (size_t)i * bytes, bytes);
    }
    return true;
}

static eddy_array *of_rows(const rule_call *c, int n, eddy_array *const *rows)
{
    eddy_shape s = eddy_array_shape(rows[0]);
    if (s.rank == EDDY_MAX_RANK) return fail(c, "its entry would have 9 dimensions"), NULL;
    for (int i = s.rank++; i > 0; i--) s.dim[i] = s.dim[i - 1];
    s.dim[0] = n;
    const size_t bytes = eddy_array_bytes(rows[0]);
    eddy_array  *x = eddy_array_new_in(c->allocator, eddy_array_dtype(rows[0]), s);
    for (int i = 0; i < n && x && bytes > 0; i++)
        memcpy((char *)eddy_array_data(x) + (size_t)i * bytes, eddy_array_data(rows[i]), bytes);
    if (!x)
        eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory for '%.200s'",
                        c->match->variables[0]);
    return x;
}

/* ------------------------------------------------------------ to variables -- */

/* The shape that the axes give the only variable of an entry, as far as it is known. */
static eddy_shape wanted_shape(const rule_match *m, const eddy_shape *shapes)
{
    return m->n_variables == 1 && m->n_entries == 1 ? shapes[0] : eddy_shape_unknown();
}

/* An entry in the axes and in the order of the variables. */
static eddy_array *turned(const rule_call *c, eddy_array *x, const eddy_shape *shapes)
{
    const rule_match *m = c->match;
    eddy_array       *y = m->axes.text
                              ? eddy__axes_apply(c->allocator, &m->axes, false, m->map->heads, x,
                                                 wanted_shape(m, shapes), m->entries[0], c->error)
                              : eddy_array_retain(x);
    eddy_array *z = y ? reordered(c, y, false) : NULL;
    eddy_array_free(y);
    return z;
}

static eddy_array *whole_of(const rule_call *c, int n, eddy_array *const *entries,
                            const eddy_shape *shapes)
{
    const rule_match *m = c->match;
    eddy_array *x[EDDY_RULE_NAMES] = { NULL }, *whole = NULL;
    bool        ok = true;
    for (int i = 0; i < n && ok; i++) ok = (x[i] = turned(c, entries[i], shapes)) != NULL;
    if (ok && m->rule.added > 0) whole = added(c, n, x);
    else if (ok) whole = join(c, n, x, m->rule.entries_axis);
    /* An entry is not changed; a whole of its own may be. */
    if (whole && m->rule.forget_part > 0) {
        eddy_array *own = eddy_array_copy(whole);
        eddy_array_free(whole);
        whole = own;
        if (!own || !add_to_forget(c, own, -m->map->forget_bias)) {
            eddy_array_free(own);
            whole = NULL;
        }
    }
    free_all(n, x);
    return whole;
}

/* The whole divided among the variables, whose shapes are known if there are several. */
static bool divide(const rule_call *c, eddy_array *whole, const eddy_shape *shapes,
                   eddy_array **variables)
{
    const rule_match *m = c->match;
    int64_t           begin = 0;
    if (m->n_variables == 1) return (variables[0] = eddy_array_retain(whole)) != NULL;
    const int rank = eddy_array_shape(whole).rank;
    const int axis = m->rule.variables_axis < 0 ? m->rule.variables_axis + rank
                                                : m->rule.variables_axis;
    for (int i = 0; i < m->n_variables; i++) {
        if (shapes[i].rank != rank || axis < 0 || axis >= rank || shapes[i].dim[axis] < 0)
            return fail(c, "a variable of its rule has another rank or an unknown shape");
        variables[i] = slice(c, whole, axis, begin, shapes[i].dim[axis]);
        if (!variables[i]) return false;
        begin += shapes[i].dim[axis];
    }
    return begin == eddy_array_shape(whole).dim[axis] ||
           fail(c, "its rule has variables of other sizes");
}

bool eddy__rule_to_variables(const eddy_allocator *a, const rule_match *m,
                             eddy_array *const *entries, const eddy_shape *shapes,
                             eddy_array **variables, eddy_error *e)
{
    eddy_error        own = { 0 };
    const rule_call   c = { a, m, &own };
    eddy_array       *rows[EDDY_RULE_NAMES] = { NULL }, *whole = NULL;
    const int         n = m->rule.rows > 0 ? m->rule.rows : m->n_entries;
    bool              ok = m->rule.rows == 0 || rows_of(&c, entries[0], rows);
    if (ok) whole = whole_of(&c, n, m->rule.rows > 0 ? rows : entries, shapes);
    ok = whole && divide(&c, whole, shapes, variables);
    eddy_array_free(whole);
    free_all(EDDY_RULE_NAMES, rows);
    if (!ok) free_all(m->n_variables, variables);
    if (!ok && own.status == EDDY_OK)
        eddy__error_set(&own, EDDY_NO_MEMORY, "out of memory for '%.200s'", m->variables[0]);
    if (!ok) eddy__error_set(e, own.status, "%s", own.message);
    return ok;
}

/* -------------------------------------------------------------- to entries -- */

/* Where entry i begins on the axis along which the entries are joined, and how long it is. */
static bool place_of(const rule_call *c, const eddy_array *whole, int axis, int n, int i,
                     int64_t state_size, int64_t *begin, int64_t *size)
{
    const int64_t all = eddy_array_shape(whole).dim[axis];
    if (!c->match->rule.state) {
        *size = all / n;
        *begin = *size * i;
        return all % n == 0 || fail(c, "its entries have no equal sizes");
    }
    const int64_t state = state_size > 0 ? state_size : last_of(whole) / c->match->rule.parts;
    *begin = i == 0 ? 0 : all - state;
    *size = i == 0 ? all - state : state;
    return (n == 2 && *size >= 0) || fail(c, "it has no rows for the state");
}

static bool pieces_of(const rule_call *c, eddy_array *whole, int n, int64_t state_size,
                      eddy_array **x)
{
    const eddy_checkpoint_rule *r = &c->match->rule;
    const int rank = eddy_array_shape(whole).rank;
    const int axis = r->entries_axis < 0 ? r->entries_axis + rank : r->entries_axis;
    int64_t   begin, size;
    if (r->added > 0) return subtracted(c, whole, n, x);
    if (n == 1) return (x[0] = eddy_array_retain(whole)) != NULL;
    if (axis < 0 || axis >= rank) return fail(c, "it has no such axis");
    for (int i = 0; i < n; i++)
        if (!place_of(c, whole, axis, n, i, state_size, &begin, &size) ||
            !(x[i] = slice(c, whole, axis, begin, size)))
            return false;
    return true;
}

static eddy_array *turned_back(const rule_call *c, eddy_array *x)
{
    const rule_match *m = c->match;
    eddy_array       *y = reordered(c, x, true);
    if (!y || !m->axes.text) return y;
    eddy_array *z = eddy__axes_apply(c->allocator, &m->axes, true, m->map->heads, y,
                                     eddy_shape_unknown(), m->variables[0], c->error);
    eddy_array_free(y);
    return z;
}

/* The variables joined, with the part that only the entries have. */
static eddy_array *joined_variables(const rule_call *c, eddy_array *const *variables)
{
    const rule_match *m = c->match;
    eddy_array       *whole = join(c, m->n_variables, variables, m->rule.variables_axis);
    if (!whole || m->rule.forget_part == 0) return whole;
    eddy_array *own = eddy_array_copy(whole);
    eddy_array_free(whole);
    if (own && add_to_forget(c, own, m->map->forget_bias)) return own;
    eddy_array_free(own);
    return NULL;
}

bool eddy__rule_to_entries(const eddy_allocator *a, const rule_match *m,
                           eddy_array *const *variables, int64_t state_size, eddy_array **entries,
                           eddy_error *e)
{
    eddy_error      own = { 0 };
    const rule_call c = { a, m, &own };
    const int       n = m->rule.rows > 0 ? m->rule.rows : m->n_entries;
    eddy_array     *x[EDDY_RULE_NAMES] = { NULL }, *y[EDDY_RULE_NAMES] = { NULL };
    eddy_array     *whole = joined_variables(&c, variables);
    bool            ok = whole && pieces_of(&c, whole, n, state_size, x);
    for (int i = 0; i < n && ok; i++) ok = (y[i] = turned_back(&c, x[i])) != NULL;
    if (ok && m->rule.rows > 0) ok = (entries[0] = of_rows(&c, n, y)) != NULL;
    for (int i = 0; i < n && ok && m->rule.rows == 0; i++) {
        entries[i] = y[i];
        y[i] = NULL;
    }
    eddy_array_free(whole);
    free_all(n, x);
    free_all(n, y);
    if (!ok && own.status == EDDY_OK)
        eddy__error_set(&own, EDDY_NO_MEMORY, "out of memory for '%.200s'", m->variables[0]);
    if (!ok) eddy__error_set(e, own.status, "%s", own.message);
    return ok;
}
