/* map.c -- records that a function makes of others, and those that it keeps. */
#include "internal.h"

#include <string.h>

typedef struct map {
    eddy_dataset d;
    bool       (*function)(void *context, eddy_record *in, eddy_record *out);
    void        *context;
    void       (*freed)(void *context);
} map;

bool eddy__map_apply(eddy_dataset *d, eddy_record *in, eddy_record *out)
{
    const map *m = (map *)d;
    out->epoch = in->epoch;
    out->number = in->number;
    for (int k = 0; k < out->n; k++) out->slots[k].dtype = EDDY_DEFAULT_DTYPE;
    if (!m->function(m->context, in, out))
        return eddy__input_fail(out->error, EDDY_INVALID_ARGUMENT,
                                "dataset_map: the function failed at record %lld",
                                (long long)in->number);
    return out->error->status == EDDY_OK &&
           eddy__record_check(out, d->components, d->n, "dataset_map");
}

static int64_t map_size(eddy_dataset *d, eddy_error *e) { return eddy__size(d->sources[0], e); }

static bool map_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    eddy_record *in = eddy__borrow(d->sources[0], out->error);
    const bool   ok = in && eddy__at(d->sources[0], epoch, i, in) && eddy__map_apply(d, in, out);
    eddy__give_back(d->sources[0], in);
    return ok;
}

static outcome map_next(eddy_dataset *d, eddy_record *out)
{
    eddy_record *in = eddy__borrow(d->sources[0], out->error);
    outcome      r = in ? eddy__next(d->sources[0], in) : INPUT_FAILED;
    if (r == INPUT_RECORD && !eddy__map_apply(d, in, out)) r = INPUT_FAILED;
    eddy__give_back(d->sources[0], in);
    return r;
}

static void rewind_source(eddy_dataset *d, int64_t epoch) { eddy__rewind(d->sources[0], epoch); }
static void save_source(eddy_dataset *d, int64_t *words) { eddy__save(d->sources[0], words); }
static bool load_source(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    return eddy__load(d->sources[0], words, e);
}

static void map_release(eddy_dataset *d)
{
    const map *m = (map *)d;
    if (m->freed) m->freed(m->context);
}

static const stage map_stage = { .size = map_size, .at = map_at, .next = map_next,
                                 .rewind = rewind_source, .save = save_source,
                                 .load = load_source, .release = map_release };

bool eddy__is_map(const eddy_dataset *d) { return d->stage == &map_stage; }

eddy_dataset *eddy_dataset_map_with(const eddy_map_args *given)
{
    eddy_map_args a = { eddy_map_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    map *m = eddy__stage_new(sizeof *m, &map_stage, &a.dataset, 1, "map");
    if (!m) {
        if (a.release) a.release(a.context);
        return NULL;
    }
    m->function = a.function;
    m->context = a.context;
    m->freed = a.release;
    if (!a.function)
        eddy__dataset_fail(&m->d, EDDY_INVALID_ARGUMENT, "dataset_map: no function is given");
    if (a.components || a.n) eddy__set_components(&m->d, a.components, a.n, "dataset_map");
    if (!m->d.indexed) m->d.words = a.dataset->words;
    return &m->d;
}

/* ---------------------------------------------------------------- filter -- */

typedef struct filter {
    eddy_dataset d;
    bool       (*keep)(void *context, eddy_record *r);
    void        *context;
} filter;

static outcome filter_next(eddy_dataset *d, eddy_record *out)
{
    const filter *f = (filter *)d;
    for (;;) {
        const outcome r = eddy__next(d->sources[0], out);
        if (r != INPUT_RECORD) return r;
        const bool kept = f->keep(f->context, out);
        if (out->error->status != EDDY_OK) return INPUT_FAILED;
        if (kept) return INPUT_RECORD;
    }
}

static const stage filter_stage = { .next = filter_next, .rewind = rewind_source,
                                    .save = save_source, .load = load_source };

eddy_dataset *eddy_dataset_filter(eddy_dataset *d, bool (*keep)(void *context, eddy_record *r),
                                  void *context)
{
    filter *f = eddy__stage_new(sizeof *f, &filter_stage, &d, 1, "filter");
    if (!f) return NULL;
    f->keep = keep;
    f->context = context;
    f->d.words = d->words;
    if (!keep)
        eddy__dataset_fail(&f->d, EDDY_INVALID_ARGUMENT, "dataset_filter: no function is given");
    return &f->d;
}
