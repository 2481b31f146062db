/* report_data.h -- what a report shows, as JSON for the script of its page. */
#ifndef EDDY_FORMATS_TRAINING_REPORT_REPORT_DATA_H
#define EDDY_FORMATS_TRAINING_REPORT_REPORT_DATA_H

#include "page_out.h"
#include "runs.h"

/* Writes an object: title, notes, runs, and a list for each kind of series. Long series are thinned:
 * of a scalar, the least and the most of each part of 1000 are kept. False without memory. */
bool eddy__report_data(page_out *p, const runs *r, const char *title);
/* The nodes of a GraphDef as a list: name, operation, shapes of outputs, inputs. */
void eddy__report_graph(page_out *p, const char *key, wire_bytes graph);
/* The nodes of a RunMetadata, the slowest first. False without memory. */
bool eddy__report_profile(page_out *p, const char *key, wire_bytes metadata);

#endif
