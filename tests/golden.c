/* golden.c -- messages against the lines of a file. */
#include "tests/golden.h"

#include <stdlib.h>
#include <string.h>

static FILE *file;
static bool  writes;

void golden_begin(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "tests/golden/%s.txt", name);
    writes = getenv("EDDY_WRITE_GOLDEN") != NULL;
    file = fopen(path, writes ? "w" : "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
}

/* One line, whatever the message holds. */
static void on_one_line(const char *message, char *line, size_t size)
{
    size_t n = 0;
    for (; *message && n + 3 < size; message++)
        if (*message == '\n') line[n++] = '\\', line[n++] = 'n';
        else line[n++] = *message;
    line[n] = 0;
}

void golden_line(const char *message)
{
    char said[1200], line[1200];
    on_one_line(message, said, sizeof said);
    ck_assert_msg(*said, "no message was given");
    if (writes) {
        fprintf(file, "%s\n", said);
        return;
    }
    ck_assert_msg(fgets(line, sizeof line, file) != NULL, "no line is left for: %s", said);
    line[strcspn(line, "\n")] = 0;
    ck_assert_str_eq(said, line);
}

void golden_graph(eddy_graph *g)
{
    golden_line(eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

void golden_error(eddy_error *e)
{
    golden_line(e->message);
    *e = (eddy_error){ 0 };
}

void golden_end(void)
{
    if (!writes) ck_assert_msg(fgetc(file) == EOF, "the file has lines that nothing provoked");
    fclose(file);
}
