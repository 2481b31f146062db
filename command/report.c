/* report.c -- eddy report: the event files of trainings as one page of HTML. */
#include "command/command.h"

#include <eddy/formats.h>
#include <eddy/formats/events.h>
#include <string.h>

static const char *output = "report.html", *title = NULL;

static const option_row options[] = {
    { "output", 'o', OPTION_TEXT, "FILE", &output, "the page to write (report.html)" },
    { "title", 't', OPTION_TEXT, "TEXT", &title, "the heading; the name of the folder without it" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

static int run(char **operands, int count)
{
    eddy_error e = { 0 };
    (void)count;
    if (eddy_events_report(operands[0], output, title, &e) == EDDY_OK) {
        json_file(output);
        return SUCCESS;
    }
    const size_t own = strncmp(e.message, "report: ", 8) == 0 ? 8 : 0;     /* the command says it */
    return fail(NULL, "%s", e.message + own);
}

const command command_report = {
    "report", "FOLDER", "Show event files of trainings as a page of HTML", 1, 1, options, run
};
