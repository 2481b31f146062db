/* training_state.c -- checkpoints of a training. */
#include "command/train/training_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATE "train.state"
#define FORM \
    "step=%lld epoch=%lld loss_sum=%la loss_count=%lld rate=%la best=%la best_epoch=%lld " \
    "gain=%la gain_epoch=%lld ranks=%lld parts=%lld"

bool state_is_final(const training *t, const state *now)
{
    const bool stale = t->patience > 0 && now->epoch - now->gain_epoch >= t->patience;
    return now->loss_count == 0 && (now->step >= t->steps || stale);
}

bool state_save(const training *t, eddy_session *s, eddy_dataset *d, const state *now,
                double value)
{
    const char *position = eddy_dataset_position(d);
    if (!position) return fail(t->folder, "%s", eddy_dataset_message(d)) == SUCCESS;
    const eddy_metadata pairs[] = {
        { EDDY_DATASET_POSITION, text("%s", position) },
        { STATE,
          text(FORM, (long long)now->step, (long long)now->epoch, now->loss_sum,
               (long long)now->loss_count, now->rate, now->best, (long long)now->best_epoch,
               now->gain, (long long)now->gain_epoch, (long long)t->ranks, (long long)t->parts) },
    };
    const eddy_save_checkpoint_args options =
        *EDDY_ARGS(eddy_save_checkpoint_args, .metadata = pairs, .n_metadata = 2);
    if (eddy_keep_checkpoint(s, t->folder, now->step, .last = (int)t->last_checkpoints,
                             .metric = value, .larger_is_better = t->larger_is_better,
                             .options = &options) == EDDY_OK)
        return true;
    return fail_error(t->folder, eddy_session_message(s)) == SUCCESS;
}

static bool latest(const training *t, eddy_kept_checkpoint *kept)
{
    eddy_error e = { 0 };
    return eddy_latest_checkpoint(t->folder, NULL, kept, &e) == EDDY_OK ||
           fail_error(t->folder, e.message) == SUCCESS;
}

bool state_exists(const training *t, bool *exists)
{
    eddy_kept_checkpoint kept;
    if (!latest(t, &kept)) return false;
    *exists = kept.step >= 0;
    return true;
}

static bool parse(const char *from, state *now, long long *ranks, long long *parts)
{
    long long step, epoch, count, best, gain;
    if (sscanf(from, FORM, &step, &epoch, &now->loss_sum, &count, &now->rate, &now->best, &best,
               &now->gain, &gain, ranks, parts) != 11)
        return false;
    now->step = step;
    now->epoch = epoch;
    now->loss_count = count;
    now->best_epoch = best;
    now->gain_epoch = gain;
    return true;
}

/* Another number of ranks has other sums of gradients, and other runs in a step. */
static bool restore_ranks(const training *t, eddy_session *s, eddy_dataset *d,
                          const eddy_checkpoint *c, const char *path, int64_t step, eddy_error *e)
{
    const char *position = eddy_checkpoint_text(c, EDDY_DATASET_POSITION);
    if (eddy_dataset_seek(d, position) != EDDY_OK) {
        snprintf(e->message, sizeof e->message, "%s", eddy_dataset_message(d));
        return false;
    }
    if (!eddy_restore_part(t->b.graph, s, path, e)) return false;
    eddy_array *runs = eddy_array_new(EDDY_INT64, EDDY_SCALAR);
    if (runs) *(int64_t *)eddy_array_data(runs) = step * (t->parts / t->ranks);
    const bool fine = runs && eddy_variable_set(s, t->runs, runs) == EDDY_OK;
    if (!fine) snprintf(e->message, sizeof e->message, "out of memory");
    eddy_array_free(runs);
    return fine;
}

bool state_restore(const training *t, eddy_session *s, eddy_dataset *d, state *now)
{
    eddy_kept_checkpoint kept;
    eddy_error           e = { 0 };
    if (!latest(t, &kept)) return false;
    if (kept.step < 0) return true;
    eddy_checkpoint *c = eddy_checkpoint_open(kept.path, .error = &e);
    const char      *words = c ? eddy_checkpoint_text(c, STATE) : NULL;
    long long        ranks, parts;
    bool             fine = words && parse(words, now, &ranks, &parts);
    if (!c) fail_error(kept.path, e.message);
    else if (!fine) fail(kept.path, "this is not a checkpoint of eddy train");
    else if (parts != t->parts)
        fine = fail(kept.path, "the training had batches of %s, on which the results depend; this "
                               "configuration has %s", number_of(parts, "part"),
                    number_of(t->parts, "part")) == SUCCESS;
    else {
        fine = ranks == t->ranks
                   ? eddy_restore_with_dataset(s, kept.path, d, &e) == EDDY_OK
                   : restore_ranks(t, s, d, c, kept.path, now->step, &e);
        if (!fine)
            fail(kept.path, "the checkpoint does not fit the configuration: %s", e.message);
    }
    eddy_checkpoint_free(c);
    return fine;
}
