/* box_copy.c -- strided copies of boxes of elements: transposes, broadcasts, slices and tiles.
 *
 * The two innermost loops of a box run as one plane, by one of four methods; the outer loops
 * count like an odometer. */
#include "graph/base/thread_pool.h"
#include "ops/kernels/arrays/box_copy.h"
#include "ops/kernels/arrays/transpose_tiles_32.h"

#include <string.h>

/* ---------------------------------------------------------------- boxes -- */

void eddy__strides_of(eddy_shape s, int64_t *stride)
{
    int64_t step = 1;
    for (int i = s.rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= s.dim[i];
    }
}

void eddy__box_add(eddy_box *b, int64_t dim, int64_t to, int64_t from)
{
    if (dim == 1) return;
    int i = b->rank - 1;
    if (i >= 0 && b->to[i] == dim * to && b->from[i] == dim * from) b->dim[i] *= dim;
    else b->dim[i = b->rank++] = dim;
    b->to[i] = to;
    b->from[i] = from;
}

void eddy__box_of_part(eddy_box *b, eddy_shape s, eddy_shape to, eddy_shape from)
{
    int64_t to_step[EDDY_MAX_RANK], from_step[EDDY_MAX_RANK];
    eddy__strides_of(to, to_step);
    eddy__strides_of(from, from_step);
    for (int i = 0; i < s.rank; i++) eddy__box_add(b, s.dim[i], to_step[i], from_step[i]);
}

bool eddy__lies_together(eddy_shape part, eddy_shape whole)
{
    int i = 0;
    if (eddy_shape_count(part) == 0) return true;
    while (i < part.rank && part.dim[i] == 1) i++;
    for (i++; i < part.rank; i++)
        if (part.dim[i] != whole.dim[i]) return false;
    return true;
}

static bool has_zero(const eddy_box *b)
{
    for (int i = 0; i < b->rank; i++)
        if (b->dim[i] == 0) return true;
    return false;
}

/* Moves `to` and `from` to the next position of the outer loops, like an odometer; false after the
 * last. */
static bool turn_on(const eddy_box *b, int64_t *index, int64_t *to, int64_t *from)
{
    for (int i = b->rank - 1; i >= 0; i--) {
        *to += b->to[i];
        *from += b->from[i];
        if (++index[i] < b->dim[i]) return true;
        *to -= b->dim[i] * b->to[i];
        *from -= b->dim[i] * b->from[i];
        index[i] = 0;
    }
    return false;
}

/* -------------------------------------------------------------- copying -- */

typedef struct plane {
    int64_t rows, to_row, from_row;
    int64_t n, to, from;
} plane;

typedef void (*move_fn)(plane p, void *to, const void *from);

enum { SIDE = EDDY_TILE_SIDE };
enum { COPY, FILL, FLIP, STEP, WAYS };

#define TEMPLATE "ops/kernels/arrays/box_copy_loops.h"
#include "ops/kernels/for_sizes.h"

/* Returns the method of the innermost loop, and in *rows the loop that forms a plane with it. */
static int innermost_loop(const eddy_box *b, int *rows)
{
    int last = b->rank - 1;
    *rows = last - 1;
    if (last < 0 || (b->to[last] == 1 && b->from[last] == 1)) return COPY;
    if (b->to[last] != 1) return STEP;
    if (b->from[last] == 0) return FILL;
    for (int i = 0; i < last; i++)
        if (b->from[i] == 1 && b->dim[i] >= SIDE) {
            *rows = i;
            return FLIP;
        }
    return STEP;
}

void eddy__box_copy(const eddy_box *b, size_t size, void *to, const void *from)
{
    if (has_zero(b)) return;
    int rows, way = innermost_loop(b, &rows), last = b->rank - 1;
    plane p = { 1, 0, 0, 1, 1, 1 };
    if (last >= 0) p.n = b->dim[last], p.to = b->to[last], p.from = b->from[last];
    if (rows >= 0) p.rows = b->dim[rows], p.to_row = b->to[rows], p.from_row = b->from[rows];

    eddy_box outer = { .rank = 0 };
    for (int i = 0; i < last; i++)
        if (i != rows) eddy__box_add(&outer, b->dim[i], b->to[i], b->from[i]);

    const move_fn move = EDDY_FOR_SIZE(moves, size)[way];
    const int64_t bytes = (int64_t)size;
    int64_t index[EDDY_BOX_RANK] = { 0 }, to_at = b->to_at, from_at = b->from_at;
    do {
        move(p, (char *)to + to_at * bytes, (const char *)from + from_at * bytes);
    } while (turn_on(&outer, index, &to_at, &from_at));
}

/* -------------------------------------------------------------- kernels -- */

eddy_box *eddy__box_state(eddy_kernel *k)
{
    eddy_box *b = eddy_kernel_state(k, sizeof *b);
    if (b) *b = (eddy_box){ .rank = 0 };
    else eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    return b;
}

/* A box of which each thread copies some iterations of one loop. */
typedef struct shared_box {
    const eddy_box *box;
    int             loop;
    size_t          size;
    void           *to;
    const void     *from;
} shared_box;

static void copy_turns(void *arg, int64_t from, int64_t to, int worker)
{
    const shared_box *s = arg;
    eddy_box part = *s->box;
    (void)worker;
    part.dim[s->loop] = to - from;
    part.to_at += from * part.to[s->loop];
    part.from_at += from * part.from[s->loop];
    eddy__box_copy(&part, s->size, s->to, s->from);
}

void eddy__box_copy_parallel(const eddy_kernel *k, const eddy_box *b, size_t size, void *to,
                             const void *from)
{
    enum { BYTES = 1 << 17, TURNS = 16 };
    int64_t count = 1;
    int     loop = 0;
    for (int i = 0; i < b->rank; i++) {
        count *= b->dim[i];
        if (b->dim[loop] < TURNS && b->dim[i] > b->dim[loop]) loop = i;
    }
    if (b->rank == 0 || count * (int64_t)size < 2 * BYTES) {
        eddy__box_copy(b, size, to, from);
        return;
    }
    shared_box s = { b, loop, size, to, from };
    const int64_t turn = count / b->dim[loop] * (int64_t)size;
    const int64_t grain = (BYTES / turn + TURNS) / TURNS * TURNS;
    eddy__parallel_or_stop(k, b->dim[loop], turn < BYTES ? grain : 1, copy_turns, &s);
}

eddy_status eddy__box_copy_kernel(eddy_kernel *k)
{
    eddy__box_copy_parallel(k, k->state, eddy_dtype_size(k->out[0]->type.dtype), k->out[0]->data,
                            k->in[0]->data);
    return EDDY_OK;
}
