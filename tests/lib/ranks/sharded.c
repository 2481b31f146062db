/* sharded.c -- trainings whose slots and gradients are divided among ranks, compared with
 * the same where each rank has all; and checkpoints of several ranks. */
#include "tests/lib/ranks/model.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXAMPLES = 4, STEPS = 4 };

/* Rank r has more examples than rank r - 1, and rank 1 none, if they are weighted. */
static int examples_of(const eddy_communicator *c, bool weighted)
{
    const int me = eddy_communicator_rank(c);
    return !weighted ? EXAMPLES : me == 1 ? 0 : me % 3 + 1;
}

static bool run_steps(const eddy_communicator *c, const rank_model *m, eddy_session *s, int from,
                      int to, bool weighted)
{
    return rank_model_steps(c, m, s, from, to, eddy_communicator_rank(c) * EXAMPLES,
                            examples_of(c, weighted));
}

static bool start(eddy_communicator *c, const rank_model *m, eddy_session *s)
{
    eddy_error e = { 0 };
    const bool ok =
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m->graph)), NULL) == EDDY_OK &&
        eddy_broadcast_variables(c, 0, m->graph, s, &e);
    return expect(c, ok, "%s%s", e.message, eddy_session_message(s));
}

/* Sums by pairs of ranks have the same bits; a mean over 3 ranks divides elsewhere. */
static bool same_values(const eddy_communicator *c, const eddy_array *a, const eddy_array *b)
{
    const int n = eddy_communicator_size(c);
    if ((n & (n - 1)) == 0) return eddy_array_equal(a, b);
    bool same = eddy_array_count(a) == eddy_array_count(b);
    for (int64_t i = 0; same && i < eddy_array_count(a); i++)
        same = fabs(eddy_array_get(a, i) - eddy_array_get(b, i)) < 1e-9;
    return same;
}

/* The variables of `a` with values in both, by name. */
static bool compare(const eddy_communicator *c, const rank_model *a, eddy_session *s,
                    const rank_model *b, eddy_session *t, const char *what, int *compared)
{
    bool ok = true;
    *compared = 0;
    for (int i = 0; ok && i < eddy_collection_size(a->graph, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(a->graph, EDDY_GLOBAL_VARIABLES, i);
        for (int j = 0; ok && j < eddy_collection_size(b->graph, EDDY_GLOBAL_VARIABLES); j++) {
            const eddy_tensor w = eddy_collection_at(b->graph, EDDY_GLOBAL_VARIABLES, j);
            if (strcmp(eddy_name_of(v), eddy_name_of(w)) != 0) continue;
            eddy_array *x = eddy_variable_value(s, v), *y = eddy_variable_value(t, w);
            ok = expect(c, same_values(c, x, y), "%s: '%s' differs", what, eddy_name_of(v));
            eddy_array_free(x);
            eddy_array_free(y);
            ++*compared;
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- trainings -- */

/* What differs from plain Adam; from CLIPPED to ACCUMULATED, it is around the optimizer whose
 * slots are divided, and then inside. */
typedef enum around {
    NOTHING, SMALL_BUCKETS, WEIGHTED, SUMMED, CLIPPED, SCALED, ACCUMULATED, ACCUMULATED_INSIDE,
    AROUND
} around;

static eddy_optimizer *adam(const rank_model *m)
{
    return eddy_adam(m->graph, .learning_rate = eddy_number(m->graph, EDDY_FLOAT64, 0.05));
}

static eddy_optimizer *wrapped(eddy_optimizer *o, eddy_graph *g, around w)
{
    if (w == CLIPPED) return eddy_clipped_gradients(o, .global_norm = eddy_scalar(g, 0.1));
    if (w == SCALED) return eddy_loss_scale(o);
    if (w == ACCUMULATED || w == ACCUMULATED_INSIDE) return eddy_accumulate_gradients(o, 2);
    return o;
}

static eddy_optimizer *optimizer(eddy_communicator *c, const rank_model *m, around w, bool divided)
{
    eddy_optimizer *o = adam(m);
    const bool      inside = divided && w >= CLIPPED && w != ACCUMULATED_INSIDE;
    if (inside) o = eddy_sharded(o, c, .averaged = true);
    o = wrapped(o, m->graph, w);
    if (!divided || inside)
        return w == WEIGHTED ? eddy_distributed(o, c, .examples = m->examples)
                             : eddy_distributed(o, c, .sum = w == SUMMED);
    if (w == WEIGHTED) return eddy_sharded(o, c, .examples = m->examples);
    return eddy_sharded(o, c, .sum = w == SUMMED,
                        .bucket_bytes = w == SMALL_BUCKETS ? 100 : 1 << 20);
}

static bool sharding_agrees(eddy_communicator *c, around w)
{
    rank_model whole = rank_model_build(), divided = rank_model_build();
    whole.step = eddy_minimize(optimizer(c, &whole, w, false), whole.loss);
    divided.step = eddy_minimize(optimizer(c, &divided, w, true), divided.loss);
    eddy_session *s = eddy_session_new(whole.graph), *t = eddy_session_new(divided.graph);
    int           compared = 0;
    char          what[40];
    snprintf(what, sizeof what, "wrapper %d", (int)w);
    const bool ok = start(c, &whole, s) && start(c, &divided, t) &&
                    run_steps(c, &whole, s, 0, STEPS, w == WEIGHTED) &&
                    run_steps(c, &divided, t, 0, STEPS, w == WEIGHTED) &&
                    compare(c, &whole, s, &divided, t, what, &compared) &&
                    expect(c, compared >= RANK_VARIABLES, "%s: %d variables", what, compared);
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(whole.graph);
    eddy_graph_free(divided.graph);
    return ok;
}

bool shardings_agree(eddy_communicator *c)
{
    bool ok = true;
    for (int w = 0; ok && w < AROUND; w++) ok = sharding_agrees(c, (around)w);
    return ok;
}

/* ------------------------------------------------------------------- memory -- */

static int64_t bytes_of_slots(const eddy_optimizer *o)
{
    eddy_tensor all[64];
    const int   n = eddy_optimizer_variables(o, all, 64);
    int64_t     bytes = 0;
    for (int i = 0; i < n && i < 64; i++)
        if (eddy_shape_of(all[i]).rank > 0) bytes += eddy_shape_count(eddy_shape_of(all[i])) * 4;
    return bytes;
}

/* Eight equal matrices: each rank has the slots of its share of them. */
bool slots_are_divided(eddy_communicator *c)
{
    enum { LAYERS = 8, SIZE = 20 };
    const int       n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     h = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, SIZE));
    eddy_optimizer *o = eddy_sharded(eddy_adam(g), c);
    for (int i = 0; i < LAYERS; i++) h = eddy_tanh(eddy_dense(h, SIZE, .no_bias = true));
    eddy_tensor   step = eddy_minimize(o, eddy_sum(h));
    eddy_session *s = eddy_session_new(g);
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK &&
              eddy_run(s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK;
    const int64_t matrix = SIZE * SIZE * 4, own = LAYERS / n + (me < LAYERS % n);
    ok = expect(c, ok, "%s%s", eddy_graph_message(g), eddy_session_message(s)) &&
         expect(c, bytes_of_slots(o) == 2 * own * matrix, "%lld bytes of slots",
                (long long)bytes_of_slots(o));
    const size_t bytes = eddy_session_memory_info(s).variable_bytes;
    ok = ok && expect(c, bytes < (size_t)((LAYERS + 2 * own) * matrix + 1000),
                      "%zu bytes of variables", bytes);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* -------------------------------------------------------------- checkpoints -- */

/* A folder that all ranks know. */
static bool make_folder(eddy_communicator *c, char *path, size_t size)
{
    eddy_error  e = { 0 };
    eddy_array *pid = eddy_array_of(EDDY_INT32, (int)getpid());
    bool        ok = eddy_array_broadcast(c, 0, pid, &e);
    snprintf(path, size, "%s/eddy-ranks-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)eddy_array_item(pid));
    eddy_array_free(pid);
    if (ok && eddy_communicator_rank(c) == 0) mkdir(path, 0700);
    return expect(c, ok && eddy_rank_barrier(c, &e), "%s", e.message);
}

static rank_model divided_model(eddy_communicator *c)
{
    rank_model m = rank_model_build();
    m.step = eddy_minimize(optimizer(c, &m, NOTHING, true), m.loss);
    return m;
}

/* Saves after two steps, and again after the others. */
static bool train_and_save(eddy_communicator *c, const rank_model *m, eddy_session *s,
                           const char *middle, const char *end)
{
    eddy_error e = { 0 };
    return start(c, m, s) && run_steps(c, m, s, 0, 2, false) &&
           expect(c, eddy_save_ranks(c, m->graph, s, end, &e), "%s", e.message) &&
           expect(c, eddy_save_ranks(c, m->graph, s, middle, &e), "%s", e.message) &&
           run_steps(c, m, s, 2, STEPS, false) &&
           expect(c, eddy_save_ranks(c, m->graph, s, end, &e), "%s", e.message);
}

/* The same ranks go on from the middle, and end with the same values. */
static bool resumes(eddy_communicator *c, const rank_model *m, eddy_session *s, const char *middle)
{
    int           compared = 0;
    rank_model    again = divided_model(c);
    eddy_session *t = eddy_session_new(again.graph);
    const bool    ok =
        expect(c, eddy_restore(t, middle, (eddy_list){ 0, NULL }) == EDDY_OK, "%s",
               eddy_session_message(t)) &&
        run_steps(c, &again, t, 2, STEPS, false) &&
        compare(c, m, s, &again, t, "resumed", &compared) &&
        expect(c, compared == eddy_collection_size(m->graph, EDDY_GLOBAL_VARIABLES),
               "resumed: %d variables", compared);
    eddy_session_free(t);
    eddy_graph_free(again.graph);
    return ok;
}

/* A process alone, with all slots. */
static bool restores_alone(const eddy_communicator *c, const rank_model *m, eddy_session *s,
                           const char *end)
{
    rank_model alone = rank_model_build();
    int        compared = 0;
    alone.step = eddy_minimize(adam(&alone), alone.loss);
    eddy_session *t = eddy_session_new(alone.graph);
    const bool    ok = expect(c, eddy_restore(t, end, (eddy_list){ 0, NULL }) == EDDY_OK, "%s",
                              eddy_session_message(t)) &&
                    compare(c, m, s, &alone, t, "alone", &compared) &&
                    expect(c, compared == eddy_collection_size(m->graph, EDDY_GLOBAL_VARIABLES),
                           "alone: %d variables", compared);
    eddy_session_free(t);
    eddy_graph_free(alone.graph);
    return ok;
}

/* Another number of ranks: a group of all except the last, each with the slots of its variables. */
static bool restores_in_group(eddy_communicator *c, const char *end)
{
    const int          n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int          ranks[] = { 0, 1, 2, 3, 4, 5, 6 };
    eddy_error         e = { 0 };
    eddy_communicator *group = me < n - 1 ? eddy_communicator_group(c, ranks, n - 1, &e) : NULL;
    if (!group) return expect(c, me == n - 1, "%s", e.message);
    rank_model    m = divided_model(group);
    eddy_session *s = eddy_session_new(m.graph);
    const bool    ok = expect(c, eddy_restore(s, end, (eddy_list){ 0, NULL }) == EDDY_OK, "%s",
                              eddy_session_message(s)) &&
                    restores_alone(group, &m, s, end) &&
                    run_steps(group, &m, s, STEPS, STEPS + 1, false);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    eddy_communicator_free(group);
    return ok;
}

/* Returns how many files were in it. */
static int remove_folder(const char *path)
{
    char file[600];
    int  n = 0;
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        n += unlink(file) == 0;
    }
    if (folder) closedir(folder);
    rmdir(path);
    return n;
}

bool checkpoints_agree(eddy_communicator *c)
{
    char folder[200], middle[300], end[300];
    bool ok = make_folder(c, folder, sizeof folder);
    snprintf(middle, sizeof middle, "%s/middle.safetensors.index.json", folder);
    snprintf(end, sizeof end, "%s/end.safetensors.index.json", folder);
    rank_model    m = divided_model(c);
    eddy_session *s = eddy_session_new(m.graph);
    eddy_error    e = { 0 };
    ok = ok && train_and_save(c, &m, s, middle, end) && resumes(c, &m, s, middle) &&
         restores_alone(c, &m, s, end) && restores_in_group(c, end);
    ok = ok && expect(c, eddy_rank_barrier(c, &e), "%s", e.message);
    const int ranks = eddy_communicator_size(c);
    const int files = ranks < RANK_VARIABLES ? ranks : RANK_VARIABLES;
    if (eddy_communicator_rank(c) == 0)
        ok = expect(c, remove_folder(folder) == 2 * (1 + files), "the number of files") && ok;
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return ok;
}

/* -------------------------------------------------------------- failed saves -- */

/* Saves again where the last rank has no values, or where the index cannot be replaced. */
static bool fails_and_leaves(eddy_communicator *c, const rank_model *m, eddy_session *s,
                             const char *path, const char *own_file)
{
    eddy_error e = { 0 };
    const bool saved = eddy_save_ranks(c, m->graph, s, path, &e),
               left = access(own_file, F_OK) == 0;
    eddy_error none = { 0 };
    return expect(c, !saved, "%s was saved", path) &&
           expect(c, !left, "%s is left after: %s", own_file, e.message) &&
           expect(c, eddy_communicator_status(c) == EDDY_OK, "the communicator") &&
           eddy_rank_barrier(c, &none);
}

/* Only the old files are there after a save that fails on one rank. */
bool failed_saves_leave_nothing(eddy_communicator *c)
{
    const int     ranks = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int     last = ranks < RANK_VARIABLES ? ranks - 1 : RANK_VARIABLES - 1;
    char          folder[200], path[300], taken[300], own[2][400];
    eddy_error    e = { 0 };
    rank_model    m = divided_model(c);
    eddy_session *s = eddy_session_new(m.graph), *empty = eddy_session_new(m.graph);
    bool          ok = make_folder(c, folder, sizeof folder);
    snprintf(path, sizeof path, "%s/m.safetensors.index.json", folder);
    snprintf(taken, sizeof taken, "%s/taken.safetensors.index.json", folder);
    snprintf(own[0], sizeof own[0], "%s/m.2-%05d-of-%05d.safetensors", folder, me + 1, ranks);
    snprintf(own[1], sizeof own[1], "%s/taken.1-%05d-of-%05d.safetensors", folder, me + 1, ranks);
    if (ok && me == 0) mkdir(taken, 0700);
    ok = ok && start(c, &m, s) &&
         expect(c, eddy_save_ranks(c, m.graph, s, path, &e), "%s", e.message) &&
         fails_and_leaves(c, &m, me == last ? empty : s, path, own[0]) &&
         fails_and_leaves(c, &m, s, taken, own[1]) &&
         expect(c, eddy_restore(empty, path, (eddy_list){ 0, NULL }) == EDDY_OK, "%s",
                eddy_session_message(empty));
    ok = eddy_rank_barrier(c, &e) && ok;
    const int files = ranks < RANK_VARIABLES ? ranks : RANK_VARIABLES;
    if (ok && me == 0) rmdir(taken);
    if (ok && me == 0) ok = expect(c, remove_folder(folder) == 1 + files, "the number of files");
    eddy_session_free(s);
    eddy_session_free(empty);
    eddy_graph_free(m.graph);
    return ok;
}
