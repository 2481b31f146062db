/* axes.c -- the axes of a rule, "h w i o -> o i h w": parsing, and permuting an array by them.
 *
 * A name is an atom; each side lists all atoms, grouped into axes. So both sides are the same
 * elements in two orders, and either follows from the other. */
#include "session/checkpoints/internal.h"

#include <string.h>

/* ------------------------------------------------------------- parsing -- */

typedef struct atom_names {
    const char *at[EDDY_MOST_ATOMS];
    size_t      length[EDDY_MOST_ATOMS];
    int         n;
    bool        one[EDDY_MOST_ATOMS];    /* an axis of size 1, on one side only */
} atom_names;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

/* The number of the atom, a new one if the name is new; -1 if there are too many. */
static int atom_of(atom_names *a, const char *name, size_t n)
{
    for (int i = 0; i < a->n; i++)
        if (!a->one[i] && a->length[i] == n && memcmp(a->at[i], name, n) == 0) return i;
    if (a->n == EDDY_MOST_ATOMS) return -1;
    a->at[a->n] = name;
    a->length[a->n] = n;
    a->one[a->n] = *name == '1';
    return a->n++;
}

static const char *parse_atom(const char *s, atom_names *a, axes_side *side)
{
    size_t n = *s == '1' ? 1 : 0;
    while (n == 0 || (s[0] != '1' && is_letter(s[n]))) {
        if (!is_letter(s[n])) return NULL;
        n++;
    }
    const int atom = atom_of(a, s, n), at = side->first[side->n + 1];
    if (atom < 0) return NULL;
    for (int i = 0; i < at; i++)         /* a side with EDDY_MOST_ATOMS has them all */
        if (side->atom[i] == atom) return NULL;
    side->atom[at] = atom;
    side->first[side->n + 1]++;
    return s + n;
}

/* The text after the side; NULL if it is not valid. */
static const char *parse_side(const char *s, atom_names *a, axes_side *side)
{
    for (s += strspn(s, " "); *s && *s != '-'; s += strspn(s, " ")) {
        if (side->n == EDDY_MAX_RANK) return NULL;
        const bool group = *s == '(';
        side->first[side->n + 1] = side->first[side->n];
        if (group) s++;
        do {
            s = parse_atom(s, a, side);
            if (s) s += strspn(s, " ");
        } while (s && group && *s != ')');
        if (!s) return NULL;
        if (group) s++;
        side->n++;
    }
    return s;
}

bool eddy__axes_parse(const char *text, axes_map *m)
{
    atom_names a = { .n = 0 };
    *m = (axes_map){ .text = text, .heads = -1 };
    const char *s = parse_side(text, &a, &m->left);
    const int   before = a.n;
    if (!s || strncmp(s, "->", 2) != 0) return false;
    s = parse_side(s + 2, &a, &m->right);
    if (!s || *s) return false;
    /* Each name is on both sides. */
    for (int i = 0; i < a.n; i++) {
        bool left = i < before, right = false;
        for (int k = 0; k < m->right.first[m->right.n]; k++) right = right || m->right.atom[k] == i;
        if (!a.one[i] && !(left && right)) return false;
        if (!a.one[i] && a.length[i] == 5 && memcmp(a.at[i], "heads", 5) == 0) m->heads = i;
        if (a.one[i]) m->ones |= 1u << i;
    }
    m->n_atoms = a.n;
    return true;
}

/* --------------------------------------------------------------- sizes -- */

/* Sets the size of the only atom of axis i that is not known (-1); false if the others do not
 * divide the dimension. */
static bool settle_axis(const axes_side *side, int i, int64_t dim, int64_t *size)
{
    int64_t rest = dim;
    int     open = -1, n_open = 0;
    for (int k = side->first[i]; k < side->first[i + 1]; k++) {
        const int64_t n = size[side->atom[k]];
        if (n == 0) return dim == 0;
        if (n > 0 && rest % n != 0) return false;
        if (n > 0) rest /= n;
        else open = side->atom[k], n_open++;
    }
    if (n_open == 1) size[open] = rest;
    return n_open > 0 || rest == 1;
}

/* The same for all known dimensions of a side. */
static bool sizes_from(const axes_side *side, const eddy_shape *s, int64_t *size)
{
    if (s->rank == EDDY_UNKNOWN_RANK) return true;
    for (int i = 0; i < side->n; i++)
        if (s->dim[i] != EDDY_ANY && !settle_axis(side, i, s->dim[i], size)) return false;
    return true;
}

/* False if no array has that shape. */
static bool shape_of_side(const axes_side *side, const int64_t *size, eddy_shape *s)
{
    *s = (eddy_shape){ .rank = side->n };
    for (int i = 0; i < side->n; i++) {
        s->dim[i] = 1;
        for (int k = side->first[i]; k < side->first[i + 1]; k++)
            if (__builtin_mul_overflow(s->dim[i], size[side->atom[k]], &s->dim[i])) return false;
    }
    return eddy_shape_is_valid(*s);
}

/* ---------------------------------------------------------- permuting -- */

/* Two axes of a copy: one along which the elements of x follow each other, and one along which
 * those of y do. Steps are in elements. */
typedef struct plane {
    int64_t rows, columns;               /* of y; x has the rows side by side */
    int64_t x_step, y_step;              /* from column to column of x, from row to row of y */
} plane;

enum { TILE = 16 };

/* Through a buffer, so that each line of x and of y is touched once: their distances are often
 * powers of 2, for which a cache has few places. */
#define COPY_TILE(T)                                                                        \
    do {                                                                                    \
        T tile[TILE][TILE];                                                                 \
        for (int64_t k = column; k < column_end; k++)                                       \
            for (int64_t i = row; i < row_end; i++)                                         \
                tile[k - column][i - row] = ((const T *)x)[i + k * p->x_step];              \
        for (int64_t i = row; i < row_end; i++)                                             \
            for (int64_t k = column; k < column_end; k++)                                   \
                ((T *)y)[i * p->y_step + k] = tile[k - column][i - row];                    \
    } while (0)

static void copy_plane(const plane *p, size_t width, const char *x, char *y)
{
    for (int64_t row = 0; row < p->rows; row += TILE) {
        const int64_t row_end = row + TILE < p->rows ? row + TILE : p->rows;
        for (int64_t column = 0; column < p->columns; column += TILE) {
            const int64_t column_end = column + TILE < p->columns ? column + TILE : p->columns;
            switch (width) {
            case 1: COPY_TILE(uint8_t); break;
            case 2: COPY_TILE(uint16_t); break;
            case 4: COPY_TILE(uint32_t); break;
            case 8: COPY_TILE(uint64_t); break;
            default: COPY_TILE(double _Complex); break;
            }
        }
    }
}

/* The steps of x and y along the atoms, in elements. */
static void find_steps(const axes_side *side, const int64_t *size, int64_t *step)
{
    int64_t all = 1;
    for (int k = side->first[side->n] - 1; k >= 0; k--) {
        step[side->atom[k]] = all;
        all *= size[side->atom[k]];
    }
}

/* Copies the elements of x, whose atoms stand as on the side `from`, in the order of `to`: planes
 * of the last atoms of both sides, for each index of the others. */
static void permute(const axes_side *from, const axes_side *to, const int64_t *size, size_t width,
                    const char *x, char *y)
{
    int64_t   x_step[EDDY_MOST_ATOMS] = { 0 }, y_step[EDDY_MOST_ATOMS] = { 0 };
    int64_t   index[EDDY_MOST_ATOMS] = { 0 }, x_at = 0, y_at = 0;
    const int n = to->first[to->n], m = from->first[from->n];
    find_steps(from, size, x_step);
    find_steps(to, size, y_step);
    const int last = n > 0 ? to->atom[n - 1] : -1;
    int       row = m > 0 ? from->atom[m - 1] : -1;
    if (row == last) row = -1;           /* one that `to` lacks has the size 1 */
    const plane p = { row >= 0 ? size[row] : 1, last >= 0 ? size[last] : 1,
                      last >= 0 ? x_step[last] : 0, row >= 0 ? y_step[row] : 0 };
    for (;;) {
        copy_plane(&p, width, x + (size_t)x_at * width, y + (size_t)y_at * width);
        int k = n - 2;
        for (; k >= 0; k--) {
            const int atom = to->atom[k];
            if (atom == row) continue;
            x_at += x_step[atom];
            y_at += y_step[atom];
            if (++index[k] < size[atom]) break;
            x_at -= index[k] * x_step[atom];
            y_at -= index[k] * y_step[atom];
            index[k] = 0;
        }
        if (k < 0) return;
    }
}

static void fail(const axes_map *m, const eddy_array *x, const char *what, eddy_error *e)
{
    char shape[100];
    eddy__error_set(e, EDDY_BAD_SHAPE,
                    "'%.200s' has the shape %s, which does not fit the axes '%.100s'", what,
                    eddy_shape_print(eddy_array_shape(x), shape, sizeof shape), m->text);
}

/* The sizes of all atoms, from the shape of x and what is known of the result. */
static bool find_sizes(const axes_map *m, const axes_side *from, const axes_side *to, int64_t heads,
                       eddy_shape have, eddy_shape wanted, int64_t *size)
{
    for (int i = 0; i < m->n_atoms; i++) size[i] = m->ones >> i & 1 ? 1 : -1;
    if (m->heads >= 0 && heads > 0) size[m->heads] = heads;
    if (have.rank != from->n || (wanted.rank != EDDY_UNKNOWN_RANK && wanted.rank != to->n))
        return false;
    bool ok = sizes_from(from, &have, size) && sizes_from(to, &wanted, size) &&
              sizes_from(from, &have, size);
    for (int i = 0; i < m->n_atoms; i++) ok = ok && size[i] >= 0;
    return ok;
}

eddy_array *eddy__axes_apply(const eddy_allocator *a, const axes_map *m, bool to_entry,
                             int64_t heads, const eddy_array *x, eddy_shape wanted,
                             const char *what, eddy_error *e)
{
    const axes_side *from = to_entry ? &m->left : &m->right, *to = to_entry ? &m->right : &m->left;
    int64_t          size[EDDY_MOST_ATOMS];
    eddy_shape       s;
    if (!find_sizes(m, from, to, heads, eddy_array_shape(x), wanted, size) ||
        !shape_of_side(to, size, &s))
        return fail(m, x, what, e), NULL;
    eddy_array *y = eddy_array_new_in(a, eddy_array_dtype(x), s);
    if (!y) eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what);
    if (y && eddy_array_count(x) > 0)
        permute(from, to, size, eddy_dtype_size(eddy_array_dtype(x)), eddy_array_data(x),
                eddy_array_data(y));
    return y;
}
