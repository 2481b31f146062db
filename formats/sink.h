/* sink.h -- writing a file that replaces the old one as a whole, or leaves it unchanged. */
#ifndef EDDY_FORMATS_SINK_H
#define EDDY_FORMATS_SINK_H

#include "../graph/graph.h"

enum { SINK_LONGEST_PATH = 4096 };

typedef struct sink {
    const eddy_files *files;
    eddy_error       *error;
    int               fd;               /* -1 if closed */
    bool              failed;
    char              path[SINK_LONGEST_PATH], temporary[SINK_LONGEST_PATH + 64];
} sink;

/* begin, any number of writes, then end or abandon. After a failure the other calls do nothing, so
 * only the result of end must be checked. `end` makes the bytes durable and renames the file to
 * path; if that fails, the temporary file is removed. files NULL is POSIX. */
bool eddy__sink_begin(sink *s, const char *path, const eddy_files *files, eddy_error *error);
bool eddy__sink_write(sink *s, const void *p, size_t size);
bool eddy__sink_end(sink *s);
void eddy__sink_abandon(sink *s);

#endif
