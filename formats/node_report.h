/* node_report.h -- what a reading or a writing says of each node. */
#ifndef EDDY_FORMATS_NODE_REPORT_H
#define EDDY_FORMATS_NODE_REPORT_H

#include "formats.h"
#include "region.h"

/* Entries so far; zero-initialize it. */
typedef struct entry_list {
    eddy_model_entry *at;           /* allocated with realloc */
    int               count, room;
} entry_list;

/* False if out of memory. */
bool eddy__report_add(entry_list *l, eddy_model_entry e);
/* A report, which takes the entries and the memory of their texts; NULL if out of memory. */
eddy_model_report *eddy__report_new(region *memory, entry_list *l);

#endif
