/* report.h -- what a reading or a writing says of each node. */
#ifndef EDDY_FORMATS_ONNX_REPORT_H
#define EDDY_FORMATS_ONNX_REPORT_H

#include "../formats.h"
#include "../region.h"

struct eddy_onnx_report {
    region           memory;            /* of the texts */
    eddy_onnx_entry *entries;           /* allocated with realloc */
    int              count;
};

#endif
