/* results.c -- the folder of a training: the network with its best weights, and the names of the
 * classes. */
#include "command/train/results.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool results_folder(const training *t, bool resume)
{
    bool exists = false;
    for (const char *end = t->folder; *end;) {  /* with those around it */
        end += strspn(end, "/");
        end += strcspn(end, "/");
        const char *part = text("%.*s", (int)(end - t->folder), t->folder);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(part, "%s", strerror(errno)) == SUCCESS;
    }
    if (!state_exists(t, &exists)) return false;
    if (!exists || resume) return true;
    return fail(t->folder, "there are checkpoints of an earlier training; --resume goes on with "
                           "it, --output names another folder") == SUCCESS;
}

/* The best weights, if an epoch was the best; also of another number of ranks. */
static bool restore_best(const training *t, eddy_session *s)
{
    eddy_kept_checkpoint best;
    eddy_error           e = { 0 };
    if (eddy_best_checkpoint(t->folder, NULL, &best, &e) != EDDY_OK)
        return fail_error(t->folder, e.message) == SUCCESS;
    if (best.step < 0 || eddy_restore_part(t->b.graph, s, best.path, &e)) return true;
    return fail_error(best.path, e.message) == SUCCESS;
}

/* The network from its inputs to its output, as it is outside of training. */
static bool write_network(const training *t, eddy_session *s, const char *path)
{
    const named       output = { "output", t->output };
    const bool       *needed = needed_nodes(t->b.graph, &output, 1);
    eddy_tensor       inputs[MOST_PARTS];
    eddy_error        e = { 0 };
    int               n = 0;
    for (int i = 0; i < t->train.n; i++)
        if (needed[t->inputs[i].node]) inputs[n++] = t->inputs[i];
    const eddy_feed never = { t->b.training, EDDY_NUMBER(EDDY_BOOL, 0) };
    eddy_graph *g = eddy_extract(.outputs = { 1, &t->output }, .output_names = "output",
                                 .inputs = { n, inputs }, .values = { 1, &never }, .freeze = s,
                                 .without_effects = true, .error = &e);
    const bool fine = g && eddy_graph_save(g, path, &e) == EDDY_OK;
    eddy_graph_free(g);
    return fine || fail_error(path, e.message) == SUCCESS;
}

static bool write_labels(const training *t, const char *path)
{
    for (int64_t k = 0; k < t->train.classes && t->train.words; k++)
        if (strchr(t->train.words[k], '\n')) return true;       /* characters of a text */
    if (!t->train.words) return true;
    FILE *f = new_file(path);
    for (int64_t k = 0; f && k < t->train.classes; k++) fprintf(f, "%s\n", t->train.words[k]);
    return f && new_file_end(f, path, true);
}

/* The losses of all epochs, as a picture in the folder and on a terminal. */
static bool draw_losses(const training *t, const history *past)
{
    const char *path = text("%s/loss.svg", t->folder);
    double     *epoch = room((size_t)past->count * 3, sizeof *epoch), *loss = epoch + past->count,
               *held = loss + past->count;
    eddy_error  e = { 0 };
    for (int i = 0; i < past->count; i++) {
        epoch[i] = (double)past->at[i].epoch;
        loss[i] = past->at[i].loss;
        held[i] = past->at[i].held_loss;
    }
    const eddy_curve curves[] = { { "training", past->count, epoch, loss },
                                  { "validation", past->count, epoch, held } };
    const int        n = t->held.n > 0 ? 2 : 1;
    if (past->count < 2) return true;
    FILE *f = new_file(path);
    if (!f) return false;
    const bool fine = eddy_plot_svg(curves, n, .to = f, .title = t->name, .x_label = "epoch",
                                    .y_label = "loss", .error = &e) == EDDY_OK;
    if (!fine) fail_error(path, e.message);
    if (!new_file_end(f, path, fine)) return false;
    return as_json || !isatty(STDOUT_FILENO) ||
           eddy_plot_print(curves, n, .title = "loss", .x_label = "epoch") == EDDY_OK;
}

bool results_write(const training *t, eddy_session *s, const state *now, const history *past,
                   reporting *r)
{
    const char *path = text("%s/model.yaml", t->folder);
    const char *what = t->monitor >= 0 ? t->metrics[t->monitor].name : "loss";
    if (!draw_losses(t, past) || !restore_best(t, s) || !write_network(t, s, path) ||
        !write_labels(t, text("%s/labels.txt", t->folder)))
        return false;
    if (r->open) {
        json_number("best_epoch", (double)now->best_epoch);
        json_number("best", now->best);
        json_text("model", path);
    } else {
        if (!isnan(now->best))
            printf("the best epoch is %lld, with %s %.4f\n", (long long)now->best_epoch, what,
                   now->best);
        printf("%s: the network with these weights\n", path);
    }
    if (!events_report(r, now->step)) return false;
    return t->sample == 0 || sample_text(t, s);
}
