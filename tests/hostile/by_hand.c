#include "tests/hostile/by_hand.h"
#include "tests/hostile/random_arguments.h"
#include "tests/hostile/wrong.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int of(const char *name) { return object_kind_named(name); }

/* --------------------------------------------------------------------- data -- */

/* Elements for the type and shape if these are valid and few; NULL if they are valid and many,
 * which nobody can have; otherwise too few, which must not be read. */
static void *data_for(eddy_dtype d, eddy_shape s)
{
    const int64_t n = eddy_shape_is_known(s) && eddy_shape_is_valid(s) ? eddy_shape_count(s) : -1;
    if (seldom(12) || n > 1 << 16) return NULL;
    return scratch(n < 0 ? 1 : (size_t)n * eddy_dtype_size(d));
}

void call_eddy_array_copy_of(void)
{
    const eddy_dtype d = draw_eddy_dtype();
    const eddy_shape s = draw_eddy_shape();
    object_keep(of("eddy_array"), eddy_array_copy_of(d, s, data_for(d, s)));
}

/* The array must not outlive the data. */
void call_eddy_array_borrow(void)
{
    const eddy_dtype d = draw_eddy_dtype();
    const eddy_shape s = draw_eddy_shape();
    eddy_array      *a = eddy_array_borrow(d, s, data_for(d, s));
    array_is_whole(a);
    eddy_array_free(eddy_array_copy(a));
    eddy_array_free(a);
}

static void frees(void *context, void *data)
{
    *(bool *)context = true;
    free(data);
}

void call_eddy_array_adopt(void)
{
    const eddy_dtype d = draw_eddy_dtype();
    const eddy_shape s = draw_small_shape();
    void            *data = calloc((size_t)eddy_shape_count(s) + 1, 16);
    bool             freed = false;
    eddy_array      *a = eddy_array_adopt(d, s, data, draw(2) ? frees : NULL, &freed);
    if (a) array_is_whole(a);
    eddy_array_free(a);
    if (!freed) free(data);             /* without a function or an array, it is still ours */
}

void call_eddy_array_view(void)
{
    const eddy_dtype d = draw_eddy_dtype();
    const eddy_shape s = draw_eddy_shape();
    array_is_whole(eddy_array_view(draw_eddy_array_room_p(), d, s, data_for(d, s)));
}

void call_eddy_const(void)
{
    const eddy_dtype d = draw_eddy_dtype();
    const eddy_shape s = draw_eddy_shape();
    tensor_keep(eddy_const(object_any(of("eddy_graph")), d, s, data_for(d, s)));
}

/* ---------------------------------------------------------------- ownership -- */

void call_eddy_constant_adopt(void)
{
    eddy_array *a = object_take(of("eddy_array"));
    tensor_keep(eddy_constant_adopt(object_any(of("eddy_graph")), a));
}

static void release(void *object) { free(object); }

void call_eddy_graph_own(void)
{
    eddy_graph *g = object_any(of("eddy_graph"));
    const bool  frees_it = draw(2);
    (void)eddy_graph_own(g, frees_it ? calloc(1, 8) : NULL, frees_it ? release : NULL);
}

enum { MOST_TAKEN = 4 };

/* Datasets for a call that takes them over if it counts at least one. */
static int take_datasets(eddy_dataset **at)
{
    const int n = draw(MOST_TAKEN + 1);
    for (int i = 0; i < n; i++) at[i] = object_take(of("eddy_dataset"));
    return n;
}

static int count_none(void)
{
    static const int all[] = { 0, -1, INT_MIN };
    return all[draw(3)];
}

void call_eddy_dataset_zip(void)
{
    eddy_dataset *at[MOST_TAKEN], *d;
    switch (draw(6)) {
    case 0: d = eddy_dataset_zip(NULL, draw_int()); break;
    case 1: d = eddy_dataset_zip(at, count_none()); break;
    default: d = eddy_dataset_zip(at, take_datasets(at));
    }
    object_keep(of("eddy_dataset"), d);
}

void call_eddy_dataset_interleave_with(void)
{
    eddy_dataset *at[MOST_TAKEN];
    eddy_interleave_args a = *EDDY_ARGS(eddy_interleave_args, at, 0, draw_int(), draw_int64_t());
    switch (draw(6)) {
    case 0: a.datasets = NULL; a.count = draw_int(); break;
    case 1: a.count = count_none(); break;
    default: a.count = take_datasets(at);
    }
    object_keep(of("eddy_dataset"),
                eddy_dataset_interleave_with(draw(24) || a.count > 0 ? &a : NULL));
}

void call_eddy_string_free(void)
{
    eddy_string_free(draw(4) ? eddy_graph_to_text(object_any(of("eddy_graph"))) : NULL);
}

void call_eddy_restore_report_free(void)
{
    eddy_restore_report r = { .n_restored = draw_int(), .n_missing = draw_int() };
    eddy_restore_report_free(draw(2) ? &r : NULL);
}

/* ------------------------------------------------------------------- running -- */

eddy_list draw_fetches(void)
{
    static eddy_tensor at[8];
    const int          n = draw(6);
    for (int i = 0; i < n; i++) at[i] = draw_eddy_tensor();
    if (seldom(16)) return (eddy_list){ draw_int(), NULL };
    return (eddy_list){ n, at };
}

eddy_feeds draw_feeds(void)
{
    static eddy_feed at[8];
    const int        n = draw(5);
    for (int i = 0; i < n; i++) at[i] = (eddy_feed){ draw_eddy_tensor(), draw_eddy_array_p() };
    if (seldom(16)) return (eddy_feeds){ draw_int(), NULL };
    return (eddy_feeds){ n, at };
}

enum { MOST_FED = 64 };

/* Small whole numbers, some of them negative, for every placeholder of the graph. */
static eddy_feeds feed_all(eddy_graph *g, eddy_feed *at)
{
    int n = 0;
    for (int32_t id = 1; id <= eddy_graph_size(g) && n < MOST_FED; id++) {
        const eddy_tensor t = eddy_node_at(g, id);
        if (strcmp(eddy_type_of(t), "Placeholder") != 0) continue;
        eddy_shape s = eddy_shape_of(t);
        if (s.rank < 0) s = EDDY_SHAPE(2, 2);
        for (int d = 0; d < s.rank; d++)
            if (s.dim[d] < 0) s.dim[d] = 2;
        if (eddy_shape_count(s) > 1 << 16) continue;
        eddy_array *a = eddy_array_new(eddy_dtype_of(t), s);
        for (int64_t i = 0; a && i < eddy_array_count(a); i++) eddy_array_set(a, i, draw(7) - 2);
        if (a) at[n++] = (eddy_feed){ t, a };
    }
    return (eddy_feeds){ n, at };
}

/* A run as it should be: initialized, and fed. */
static void run_well(eddy_session *s, eddy_graph *g)
{
    eddy_feed         at[MOST_FED];
    eddy_array       *out = NULL;
    const eddy_tensor y = tensor_kept();
    const eddy_feeds  all = feed_all(g, at);
    check_status(eddy_run(s, EDDY_FEED(), EDDY_LIST(eddy_initializer(g)), NULL));
    check_status(eddy_run(s, all, EDDY_LIST(y), &out));
    array_is_whole(out);
    eddy_array_free(out);
    for (int i = 0; i < all.count; i++) eddy_array_free((eddy_array *)(uintptr_t)at[i].value);
}

void call_world_runs(void)
{
    eddy_session *s = eddy_session_new(world_graph(), .max_bytes = 1 << 26, .timeout = 0.2,
                                       .without = draw(3) ? 0 : draw_unsigned());
    arguments_end();
    for (int i = 0; i < 6; i++) run_well(s, world_graph());
    object_keep(of("eddy_session"), s);
}

void begin_results(eddy_array **out)
{
    for (int i = 0; i < 3; i++)
        if (draw(4) == 0) out[i] = eddy_array_new(draw_eddy_dtype(), draw_small_shape());
}

void end_results(eddy_array **out)
{
    for (int i = 0; i < ENOUGH; i++) {
        array_is_whole(out[i]);
        if (draw(2)) object_keep(of("eddy_array"), out[i]);
        else eddy_array_free(out[i]);
    }
}

void call_eddy_run(void)
{
    eddy_array *out[ENOUGH] = { NULL };
    begin_results(out);
    eddy_session *s = object_any(of("eddy_session"));
    check_status(eddy_run(s, draw_feeds(), draw_fetches(), !seldom(12) ? out : NULL));
    end_results(out);
}

void call_eddy_events_run_with(void)
{
    eddy_array *out[ENOUGH] = { NULL };
    begin_results(out);
    const eddy_events_run_args a =
        *EDDY_ARGS(eddy_events_run_args, .events = object_any(of("eddy_events")),
                   .session = object_any(of("eddy_session")), .feeds = draw_feeds(),
                   .fetches = draw_fetches(), .out = !seldom(12) ? out : NULL, .step = draw(4),
                   .every = draw(4) - 1, .summaries = draw(2) ? draw_fetches() : (eddy_list){ 0 });
    check_status(eddy_events_run_with(seldom(24) ? NULL : &a));
    end_results(out);
}

void call_eddy_copy_options(void)
{
    eddy_session_args a = { eddy_session_args_DEFAULTS .size_ = sizeof a }, given = a;
    given.size_ = (size_t)draw(sizeof given + 1);
    eddy_copy_options(!seldom(8) ? &a : NULL, !seldom(8) ? &given : NULL);
}

void call_eddy_line_(void)
{
    static const char *const files[] = { NULL, "", "model.c", "a'b]\n.c" };
    eddy_line_(files[draw(4)], (int)draw(100) - 1);
}

/* As many names as the table has rows and columns, or none. */
void call_eddy_events_table(void)
{
    static const char *const names[] = { "a", "b|", "c\n", "", "<e>", "f", "g", "h" };
    const eddy_array *a = draw_eddy_array_p();
    const eddy_shape  s = a ? eddy_array_shape(a) : EDDY_SCALAR;
    const bool        few = s.rank == 2 && s.dim[0] <= 8 && s.dim[1] <= 8;
    eddy_events_table(object_any(of("eddy_events")), "table", draw(4), a,
                      few && draw(2) ? names : NULL, few && draw(2) ? names : NULL);
}

void call_eddy_callable_run(void)
{
    eddy_array       *out[ENOUGH] = { NULL };
    const eddy_array *in[ENOUGH] = { NULL };
    for (int i = 0; i < 8; i++) in[i] = draw_eddy_array_p();
    check_status(eddy_callable_run(object_any(of("eddy_callable")), !seldom(12) ? in : NULL,
                                   !seldom(12) ? out : NULL));
    for (int i = 0; i < ENOUGH; i++) eddy_array_free(out[i]);
}

void call_eddy_session_cancel(void)
{
    eddy_session *s = eddy_session_new(world_graph());
    eddy_session_cancel(draw(4) ? s : NULL);
    eddy_session_free(s);
}

void call_eddy_dataset_next(void)
{
    const eddy_array *at[EDDY_MAX_COMPONENTS] = { NULL };
    eddy_dataset     *d = object_any(of("eddy_dataset"));
    if (!eddy_dataset_next(d, !seldom(12) ? at : NULL)) return;
    for (int i = 0; i < eddy_dataset_width(d); i++) array_is_whole(at[i]);
}

static eddy_array *gives_number(void *context, int i, eddy_error *error)
{
    (void)context, (void)i, (void)error;
    return eddy_array_of(EDDY_FLOAT32, 3);
}
static eddy_array *gives_nothing(void *context, int i, eddy_error *error)
{
    (void)context, (void)i, (void)error;
    return NULL;
}
static void frees_nothing(void *context) { (void)context; }

/* The entries live as long as the checkpoint. */
void call_eddy_checkpoint_new_with(void)
{
    static const eddy_checkpoint_entry entries[] = {
        { "x", "F32", EDDY_FLOAT32, { .rank = 0 }, 4 },
        { "y", NULL, (eddy_dtype)99, { .rank = 100 }, -5 },
        { "Variable", "??", EDDY_FLOAT64, { .rank = 2, .dim = { INT64_MAX, 3 } }, INT64_MAX },
        { NULL, "F32", EDDY_FLOAT32, { .rank = 0 }, 4 },
        { "x", "F32", EDDY_FLOAT32, { .rank = 0 }, 4 },
    };
    eddy_checkpoint_new_args a = *EDDY_ARGS(
        eddy_checkpoint_new_args, entries, draw(4) ? draw(4) : draw(6),
        !seldom(8) ? draw(2) ? gives_number : gives_nothing : NULL, draw(2) ? frees_nothing : NULL,
        NULL, scratch_error());
    if (seldom(12)) a.count = -draw(5) - 1;
    if (seldom(12)) a.entries = NULL, a.count = draw_int();
    object_keep(of("eddy_checkpoint"), eddy_checkpoint_new_with(!seldom(24) ? &a : NULL));
}

/* --------------------------------------------------------------- operations -- */

void call_eddy_apply(void)
{
    eddy_tensor           in[8];
    const int             n = !seldom(12) ? draw(8) : draw(2) ? -draw(5) : INT_MIN;
    const eddy_apply_args args = { object_any(of("eddy_graph")), draw_const_char_p() };
    for (int i = 0; i < 8; i++) in[i] = draw_eddy_tensor();
    if (seldom(12)) tensor_keep(eddy_apply(draw_eddy_op_def_p(), NULL, draw_int(), NULL, args));
    else tensor_keep(eddy_apply(draw_eddy_op_def_p(), NULL, n, in, args));
}

void call_eddy_apply1(void)
{
    tensor_keep(eddy_apply1(draw_eddy_op_def_p(), NULL, draw_eddy_tensor()));
}

void call_eddy_apply2(void)
{
    tensor_keep(eddy_apply2(draw_eddy_op_def_p(), NULL, draw_eddy_tensor(), draw_eddy_tensor()));
}

void call_eddy_optimizer_new(void)
{
    const eddy_optimizer_def *def = draw_eddy_optimizer_def_p();
    const void *state = draw(2) && def && def->state_size < 100 ? scratch(def->state_size) : NULL;
    object_keep(of("eddy_optimizer"), eddy_optimizer_new(object_any(of("eddy_graph")), def, state,
                                                         draw_const_char_p()));
}

typedef double (*flops)(const void *, int, const eddy_type *, const eddy_type *);

static void count_flops(flops f)
{
    const eddy_type one = { draw_eddy_dtype(), draw_eddy_shape() };
    (void)f(NULL, 1, &one, &one);
}
void call_eddy_flops_per_input(void) { count_flops(eddy_flops_per_input); }
void call_eddy_flops_per_output(void) { count_flops(eddy_flops_per_output); }

/* -------------------------------------------------------------------- texts -- */

static const char *some_text(void)
{
    const char *text = draw_const_char_p();
    return text && *text ? text : "(none)";
}

void call_eddy_fail(void)
{
    eddy_graph *g = object_any(of("eddy_graph"));
    tensor_keep(eddy_fail(g, (eddy_status)(1 + draw(8)), "%s", some_text()));
}
static bool is_met(void *user, const eddy_watched *seen)
{
    (void)user;
    array_is_whole(seen->value);
    return draw(2);
}
static void sees(void *user, const eddy_watched *seen)
{
    (void)user;
    array_is_whole(seen->value);
}
void call_eddy_watch_with(void)
{
    const eddy_watch_args a =
        *EDDY_ARGS(eddy_watch_args, .session = object_any(of("eddy_session")),
                   .tensor = draw_eddy_tensor(), .condition = draw(2) ? is_met : NULL,
                   .callback = draw(4) ? sees : NULL);
    (void)eddy_watch_with(seldom(24) ? NULL : &a);
}

void call_eddy_progress_log(void)
{
    eddy_progress_log(object_any(of("eddy_progress")), "%s", some_text());
}

void call_eddy_infer_fail(void) { (void)eddy_infer_fail(NULL, EDDY_BAD_SHAPE, "%s", some_text()); }
void call_eddy_kernel_fail(void)
{
    check_status(eddy_kernel_fail(NULL, EDDY_IO, "%s", some_text()));
}
void call_eddy_rule_fail(void) { eddy_rule_fail(NULL, EDDY_IO, "%s", some_text()); }
void call_eddy_record_fail(void) { (void)eddy_record_fail(NULL, EDDY_IO, "%s", some_text()); }
