/* report.c -- the report of a training: the page, with the data of its event files in it. The page
 * itself is page.html, page.css and page.js, which the build makes a table of. */
#include "report_data.h"
#include "build/gen/report_page.h"
#include "../events.h"

#include <stdlib.h>
#include <string.h>

static bool write_page(const runs *r, const eddy_report_args *a, eddy_error *error)
{
    page_out *p = calloc(1, sizeof *p);
    bool      ok = p != NULL;
    if (!p) return eddy__format_fail(error, EDDY_NO_MEMORY, "report: out of memory");
    if (eddy__sink_begin(&p->file, a->path, NULL, error)) {
        for (size_t i = 0; report_page[i]; i++) {
            if (strcmp(report_page[i], "@DATA@\n") != 0) eddy__page_text(p, report_page[i]);
            else {
                ok = eddy__report_data(p, r, a->title ? a->title : a->folder);
                eddy__page_text(p, "\n");
            }
        }
        eddy__page_flush(p);
    }
    if (ok) ok = eddy__sink_end(&p->file);
    else {
        eddy__sink_abandon(&p->file);
        eddy__format_fail(error, EDDY_NO_MEMORY, "report: out of memory");
    }
    free(p);
    return ok;
}

eddy_status eddy_events_report_with(const eddy_report_args *given)
{
    eddy_report_args a = { eddy_report_args_DEFAULTS .size_ = sizeof a };
    eddy_error       own, *error;
    runs             r;
    eddy_copy_options(&a, given);
    error = a.error ? a.error : &own;
    *error = (eddy_error){ .status = EDDY_OK };
    if (!a.folder || !*a.folder || !a.path || !*a.path) {
        eddy__format_fail(error, EDDY_INVALID_ARGUMENT, "report: %s is given",
                          a.folder && *a.folder ? "no file to write" : "no folder of event files");
        return error->status;
    }
    const bool ok = eddy__runs_read(&r, a.folder, error) && write_page(&r, &a, error);
    eddy__runs_free(&r);
    return ok ? EDDY_OK : error->status;
}
