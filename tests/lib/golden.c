/* golden.c -- see golden.h. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "graph/base/sanitizer.h"

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

/* Writes the message as one line. */
static void on_one_line(const char *message, char *line, size_t size)
{
    size_t n = 0;
    for (; *message && n + 3 < size; message++)
        if (*message == '\n') line[n++] = '\\', line[n++] = 'n';
        else line[n++] = *message;
    line[n] = 0;
}

/* Whether the messages differ in digits only. */
static bool is_alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

void golden_line(const char *message)
{
    char said[1200], line[1200];
    on_one_line(message, said, sizeof said);
    if (!*said) ck_abort_msg("no message was given");
    if (writes) {
        fprintf(file, "%s\n", said);
        return;
    }
    if (!fgets(line, sizeof line, file)) ck_abort_msg("no line is left for: %s", said);
    line[strcspn(line, "\n")] = 0;
    /* Limits and sizes of objects differ where addresses have 32 bits. */
    if (sizeof(void *) < 8 && is_alike(said, line)) return;
    /* A call of Check is a call of the system, and tables have many lines. */
    if (strcmp(said, line) != 0) ck_assert_str_eq(said, line);
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

/* Memory ends in other places where addresses have 32 bits, or items of arenas have guards. */
#ifdef EDDY_ADDRESS_SANITIZER
enum { SAME_CHUNKS = false };
#else
enum { SAME_CHUNKS = sizeof(void *) == 8 };
#endif

/* The file's lines up to an empty one are all among the messages. */
static void golden_some(const eddy_error *said, int n)
{
    char line[1200];
    for (int i = 0; writes && i <= n; i++) fprintf(file, "%s\n", i < n ? said[i].message : "");
    while (!writes && fgets(line, sizeof line, file) && line[0] != '\n') {
        bool found = false;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < n && !found; i++) found = is_alike(said[i].message, line);
        ck_assert_msg(found || !SAME_CHUNKS, "nothing said: %s", line);
    }
}

void golden_no_memory(void (*attempt)(failing_allocator *f, eddy_error *e))
{
    enum { MOST = 40 };
    static eddy_error said[MOST];
    int               n = 0;
    for (int at = 1;; at++) {
        failing_allocator f;
        eddy_error        e = { 0 };
        failing_allocator_init(&f);
        f.at = at;
        attempt(&f, &e);
        ck_assert_int_eq(f.live, 0);
        bool old = e.status == EDDY_OK;      /* some do without the memory */
        for (int i = 0; i < n && !old; i++) old = is_alike(e.message, said[i].message);
        if (f.calls < f.at) break;
        if (old) continue;
        ck_assert_int_lt(n, MOST);
        said[n++] = e;
    }
    golden_some(said, n);
}

void golden_forget_nodes(eddy_error *e)
{
    static const char *const of_graph[] = { "for a node of", "for node", "for the name",
                                            "for attributes", "(outputs: " };
    for (size_t i = 0; i < sizeof of_graph / sizeof *of_graph; i++)
        if (strstr(e->message, of_graph[i])) *e = (eddy_error){ 0 };
}

void golden_end(void)
{
    if (!writes) ck_assert_msg(fgetc(file) == EOF, "the file has lines that nothing provoked");
    fclose(file);
}
