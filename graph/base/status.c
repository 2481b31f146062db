/* status.c -- status codes, their names, and errors with a message. */
#include "graph/base/base.h"

#include <string.h>

#define STATUS_NAME(name, text) #name,
#define STATUS_TEXT(name, text) text,
static const char *const names[] = { EDDY_STATUS_LIST(STATUS_NAME) };
static const char *const texts[] = { EDDY_STATUS_LIST(STATUS_TEXT) };

static bool is_status(eddy_status s)
{
    return (size_t)s < sizeof names / sizeof *names;
}

const char *eddy_status_name(eddy_status s) { return is_status(s) ? names[s] : "?"; }
const char *eddy_status_text(eddy_status s) { return is_status(s) ? texts[s] : "?"; }

bool eddy__error_vset(eddy_error *e, eddy_status s, const char *fmt, va_list args)
{
    if (!e || e->status != EDDY_OK) return false;
    e->status = s;
    vsnprintf(e->message, sizeof e->message, fmt, args);
    return false;
}

bool eddy__error_set(eddy_error *e, eddy_status s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    eddy__error_vset(e, s, fmt, args);
    va_end(args);
    return false;
}

/* The middle of a long list of inputs is left out, so that the reason and the
 * node always fit. */
void eddy__op_message(char *buf, size_t size, const eddy_op_def *op, int n, const eddy_type *in,
                      const char *reason, const char *node)
{
    char   inputs[400] = "";
    size_t at = 0;
    for (int i = 0; i < n && at < sizeof inputs - 110; i++) {
        if (n > 4 && i == 3) {
            at += (size_t)snprintf(inputs + at, sizeof inputs - at, ", ... %d more", n - 4);
            i = n - 1;
        }
        if (i > 0) at += (size_t)snprintf(inputs + at, sizeof inputs - at, ", ");
        char type[100];
        at += (size_t)snprintf(inputs + at, sizeof inputs - at, "%s",
                               eddy_type_print(in[i], type, sizeof type));
    }
    snprintf(buf, size, "%s(%s): %.400s [node '%.160s']", op->name, inputs, reason, node);
}
