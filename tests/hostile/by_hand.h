/* by_hand.h -- calls whose arguments depend on each other in ways that their types do not show.
 * calls.awk finds them by name. */
#ifndef HOSTILE_BY_HAND_H
#define HOSTILE_BY_HAND_H

#include "tests/hostile/world.h"

/* What a run is given: lists that mostly fit, and room for ENOUGH results. */
eddy_list  draw_fetches(void);
eddy_feeds draw_feeds(void);
void       begin_results(eddy_array **out);
void       end_results(eddy_array **out);

/* The size of data follows from a type and a shape. */
void call_eddy_array_copy_of(void);
void call_eddy_array_borrow(void);
void call_eddy_array_adopt(void);
void call_eddy_array_view(void);
void call_eddy_const(void);

/* They take their arguments over, or free them. */
void call_eddy_constant_adopt(void);
void call_eddy_graph_own(void);
void call_eddy_dataset_zip(void);
void call_eddy_dataset_interleave_with(void);
void call_eddy_string_free(void);
void call_eddy_restore_report_free(void);

/* Some runs as they should be, of what was built. */
void call_world_runs(void);

/* The room that they need follows from another object. */
void call_eddy_run(void);
void call_eddy_events_run_with(void);
void call_eddy_events_table(void);
/* The name of the file must live on. */
void call_eddy_line_(void);
/* Both structs begin with their size. */
void call_eddy_copy_options(void);
void call_eddy_callable_run(void);
void call_eddy_dataset_next(void);
void call_eddy_checkpoint_new_with(void);

/* Functions of types of their own, and a format. */
void call_eddy_watch_with(void);
void call_eddy_progress_log(void);

/* May be called in a signal handler, and so does not look its session up. */
void call_eddy_session_cancel(void);

/* Attributes fit a definition; contexts exist only in functions that the library calls. */
void call_eddy_apply(void);
void call_eddy_apply1(void);
void call_eddy_apply2(void);
void call_eddy_optimizer_new(void);
void call_eddy_flops_per_input(void);
void call_eddy_flops_per_output(void);

/* Texts with arguments. */
void call_eddy_fail(void);
void call_eddy_infer_fail(void);
void call_eddy_kernel_fail(void);
void call_eddy_rule_fail(void);
void call_eddy_record_fail(void);

#endif
