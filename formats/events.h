/* events.h -- event files, which TensorBoard shows.
 *
 *   eddy_events *w = eddy_events_new("logs/run1");
 *   eddy_summary_scalar("loss", loss);
 *   eddy_summary_histogram("weights", w1);
 *   for (int64_t step = 0; step < steps; step++)
 *       eddy_events_run(w, s, EDDY_FEED({ x, images }), EDDY_FETCH(train), NULL, .step = step,
 *                       .every = 100);
 *   if (eddy_events_close(w, &error) != EDDY_OK) puts(error.message);
 *
 * The first error of a writer stays with it: later calls do nothing, and eddy_events_close returns
 * it. Events are written at once, so TensorBoard can read them while the training runs. A writer
 * may be used by one thread at a time.
 *
 * These functions are in libeddy_formats. */
#ifndef EDDY_EVENTS_H
#define EDDY_EVENTS_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_events eddy_events;

typedef struct eddy_events_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_events_args));
    const char *folder;           /* of the run; made if it does not exist, with those around it */
    const char *suffix;           /* of the file's name; default: none */
} eddy_events_args;

/* A new file FOLDER/events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER. NULL if out of memory.
 *   eddy_events_new("logs/run1") */
EDDY_API eddy_events *eddy_events_new_with(const eddy_events_args *given);
#define eddy_events_new(...) eddy_events_new_with(EDDY_ARGS(eddy_events_args, __VA_ARGS__))
/* Ends the file and frees w. Returns the first error of all calls; `error` may be NULL. For a w of
 * NULL, EDDY_NO_MEMORY. */
EDDY_API eddy_status eddy_events_close(eddy_events *w, eddy_error *error);
EDDY_API eddy_status eddy_events_status(const eddy_events *w);
EDDY_API const char *eddy_events_message(const eddy_events *w);
EDDY_API const char *eddy_events_path(const eddy_events *w);     /* of the file; "" for NULL */

/* ------------------------------------------------ values from C -------- */

/* A value under the name `tag` ("train/loss": TensorBoard groups by what precedes the slash), of
 * the step. */
EDDY_API void eddy_events_scalar(eddy_events *w, const char *tag, int64_t step, double value);
/* The distribution of all elements, of any real type. NaN and infinities are not counted. */
EDDY_API void eddy_events_histogram(eddy_events *w, const char *tag, int64_t step,
                                    const eddy_array *values);
/* Images: [n,height,width,channels] or [height,width,channels] with 1, 3 or 4 channels; uint8, or
 * floats from 0 to 1, beyond which they are clipped. At most the first `most` are written, as PNG,
 * under TAG/image/0, ... Errors: EDDY_BAD_SHAPE, EDDY_BAD_DTYPE. */
EDDY_API void eddy_events_image(eddy_events *w, const char *tag, int64_t step,
                                const eddy_array *images, int most);
/* Text, which TensorBoard shows as Markdown. */
EDDY_API void eddy_events_text(eddy_events *w, const char *tag, int64_t step, const char *text);
/* The graph, with its names as nested boxes. */
EDDY_API void eddy_events_graph(eddy_events *w, const eddy_graph *g);
/* The time of each node in the runs of a session with `.profile`, so far; a fused instruction
 * counts for its last node. tag: a name of the run, "step 100". */
EDDY_API void eddy_events_profile(eddy_events *w, const char *tag, int64_t step, eddy_session *s);

/* Two scalars of a training: performance/examples_per_second, if it is above 0, and, if there is a
 * session, performance/memory_MB, the sum of eddy_session_memory_info in 10^6 bytes. */
EDDY_API void eddy_events_performance(eddy_events *w, int64_t step, eddy_session *s,
                                      double examples_per_second);

/* A hyper-parameter: a number, or a text if that is not NULL. */
typedef struct eddy_hparam {
    const char *name;
    double      number;
    const char *text;
} eddy_hparam;
/* A matrix with the names of its rows and columns, such as a confusion matrix: numbers of any real
 * type [rows, columns]; names that are NULL are numbers from 0. It is a text in the form of Markdown,
 * which TensorBoard and a report show as a table. Errors: EDDY_BAD_SHAPE, EDDY_BAD_DTYPE. */
EDDY_API void eddy_events_table(eddy_events *w, const char *tag, int64_t step,
                                const eddy_array *values, const char *const *row_names,
                                const char *const *column_names);
/* The hyper-parameters of this run, and the tags of scalars that TensorBoard compares. */
EDDY_API void eddy_events_hparams(eddy_events *w, const eddy_hparam *at, int n,
                                  const char *const *metrics, int n_metrics);

/* ------------------------------------------------ summaries ------------ */

/* Operations that mark a tensor for the event file: y = x, in the collection EDDY_SUMMARIES of the
 * graph. scalar: one element; histogram: any shape; image: as eddy_events_image. The tag is the
 * name of the node with its scopes, so the tag of eddy_summary_scalar("loss", x) in the scope
 * "train" is "train/loss". As tf.summary.scalar, histogram and image.
 * Gradient: dx = dy. */
EDDY_API eddy_tensor eddy_summary_scalar(const char *tag, eddy_tensor x);
EDDY_API eddy_tensor eddy_summary_histogram(const char *tag, eddy_tensor x);
EDDY_API eddy_tensor eddy_summary_image(const char *tag, eddy_tensor x, int most);
/* Two scalars for each pair of a gradient and its variable: gradient_norm/NAME, the Euclidean norm of
 * the gradient, and update_ratio/NAME, the norm of the change that the training step `train` makes,
 * divided by that of the variable before it (at least 1e-12). About 1e-3 is usual; much less learns
 * slowly, and much more may diverge. Pairs without a gradient are left out. */
EDDY_API void eddy_summary_training(eddy_tensor train, const eddy_gradient_pair *pairs, int n);

typedef struct eddy_events_run_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_events_run_args));
    eddy_events  *events;
    eddy_session *session;
    eddy_feeds    feeds;
    eddy_list     fetches;
    eddy_array  **out;
    int64_t       step;
    int64_t       every EDDY_DEFAULT(1);      /* steps */
    eddy_list     summaries;      /* default: all of the graph of the fetches
                                   * (tf.summary.merge_all) */
} eddy_events_run_args;

/* eddy_run, and in every so many steps the summaries too, in the same run, which are then written.
 * The status is that of the run: an error in writing stays with the events. */
EDDY_API eddy_status eddy_events_run_with(const eddy_events_run_args *given);
#define eddy_events_run(...) eddy_events_run_with(EDDY_ARGS(eddy_events_run_args, __VA_ARGS__))

/* ------------------------------------------------ report --------------- */

typedef struct eddy_report_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_report_args));
    const char *folder;           /* with the event files of one run, or folders of several */
    const char *path;             /* of the file to write, "report.html" */
    const char *title;            /* default: the folder */
    eddy_error *error;            /* gets the error, if there is one; may be NULL */
} eddy_report_args;

/* Writes what the event files below a folder contain as one page of HTML, which needs no network and no
 * other file: curves of all scalars, the runs in one chart; histograms over time; images, texts and
 * tables; hyper-parameters; the time of nodes; the graph, to unfold and search. Files of TensorFlow and
 * PyTorch are read likewise (scalars, histograms, images and texts in the form of
 * tf.summary and SummaryWriter). A file that is still being written, or damaged, counts up to there.
 * The page replaces a file at `path` as a whole.
 * Errors: EDDY_NOT_FOUND if there are no event files, EDDY_IO, EDDY_LIMIT (2 GiB, 4096 files),
 * EDDY_NO_MEMORY.
 *   eddy_events_report("logs", "report.html", "digits", &error) */
EDDY_API eddy_status eddy_events_report_with(const eddy_report_args *given);
#define eddy_events_report(...) eddy_events_report_with(EDDY_ARGS(eddy_report_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
