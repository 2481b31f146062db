/* node_report.c -- see node_report.h. */
#include "node_report.h"

#include <stdlib.h>

struct eddy_model_report {
    region     memory;              /* of the texts */
    entry_list entries;
};

bool eddy__report_add(entry_list *l, eddy_model_entry e)
{
    if (l->count == l->room) {
        const int room = l->room ? 2 * l->room : 64;
        void     *more = realloc(l->at, (size_t)room * sizeof *l->at);
        if (!more) return false;
        l->at = more;
        l->room = room;
    }
    l->at[l->count++] = e;
    return true;
}

eddy_model_report *eddy__report_new(region *memory, entry_list *l)
{
    eddy_model_report *report = calloc(1, sizeof *report);
    if (!report) return NULL;
    *report = (eddy_model_report){ *memory, *l };
    *memory = (region){ 0 };
    *l = (entry_list){ 0 };
    return report;
}

int eddy_model_report_size(const eddy_model_report *r) { return r ? r->entries.count : 0; }

const eddy_model_entry *eddy_model_report_at(const eddy_model_report *r, int i)
{
    return r && i >= 0 && i < r->entries.count ? &r->entries.at[i] : NULL;
}

void eddy_model_report_free(eddy_model_report *r)
{
    if (!r) return;
    free(r->entries.at);
    eddy__region_free(&r->memory);
    free(r);
}
