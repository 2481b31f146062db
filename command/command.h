/* command.h -- what the subcommands of the program `eddy` share: their table, options, messages and
 * output. They use only the public interface of Eddy. */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <eddy/eddy.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, as of grep and diff. */
enum { SUCCESS = 0, ANSWER_NO = 1, TROUBLE = 2 };

/* ------------------------------------------------------------- subcommands -- */

typedef struct text_list {
    int          count;
    const char **at;
} text_list;

typedef enum option_kind {
    OPTION_END = 0,
    OPTION_FLAG,                /* bool */
    OPTION_TEXT,                /* const char *, the last one given */
    OPTION_NAMES,               /* text_list: "a,b", may be repeated */
    OPTION_EACH,                /* text_list: may be repeated, and commas are part of the text */
    OPTION_COUNT                /* int64_t, at least 0 */
} option_kind;

typedef struct option_row {
    const char *name;
    char        letter;         /* 0: none */
    option_kind kind;
    const char *argument;       /* its name in the help: "FILE" */
    void       *into;
    const char *help;
} option_row;

typedef struct command {
    const char       *name, *operands, *summary;
    int               least, most;              /* number of operands */
    const option_row *options;                  /* ended by a zeroed row */
    int             (*run)(char **operands, int count);
} command;

extern const command command_show, command_grad, command_run, command_convert, command_diff,
    command_check, command_report, command_train, command_bench;

/* The options that all subcommands have. */
extern bool as_json;

/* Reads the options of `c` from argv[1..], where argv[0] is its name, and moves the operands to the
 * end: *first is the first one. False after a message. *help: --help was given. */
bool options_read(const command *c, int argc, char **argv, int *first, bool *help);
void options_help(const command *c, FILE *to);
void options_json(const command *c);
/* The words of a text between commas, without empty ones. */
text_list split(const char *text);

/* ----------------------------------------------------- messages and memory -- */

/* Prints "eddy show: FILE: sentence" to stderr and returns TROUBLE; file may be NULL. */
int   fail(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for the message of the library, which may begin with the name of the file. */
int   fail_error(const char *file, const char *message);
/* A remark on stderr in the same form. */
void  note(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
extern const char *command_name;                /* of the subcommand, for these messages */

/* The one among `known`, ended by NULL, that `word` is a slip of; NULL if none is near. */
const char *nearest(const char *word, const char *const *known);

/* From now on, this thread keeps its first failure and prints none; it prints remarks only if
 * `remarks`. The failure, with its file; "" if there is none. */
void        messages_keep(bool remarks);
const char *messages_kept(void);

/* Zeroed memory until the end of the program; ends it if there is none. */
void *room(size_t count, size_t size);
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
void  room_free(void);

/* ------------------------------------------------------------------- files -- */

/* A file that is written beside the one that it will replace; NULL after a message. */
FILE *new_file(const char *path);
/* Replaces the old file, unless `fine` is false or something was not written; then it stays, and the
 * new one is removed. False, after a message in the second case. */
bool  new_file_end(FILE *f, const char *path, bool fine);

/* ------------------------------------------------------------------ output -- */

/* The codes of bold letters and of none if `to` is a terminal and NO_COLOR is not set, else "". */
const char *bold(FILE *to);
const char *plain(FILE *to);

/* A table: the first row is the heading. The columns are named by a text such as "l r", which are
 * aligned left or right. */
typedef struct table {
    const char  *columns;
    int          width, rows, capacity;
    const char **cells;
} table;
void table_row(table *t, ...);                  /* one const char * for each column */
void table_print(const table *t, FILE *to);

/* "1.2 MB", "3.4 GFLOP", "12,345" */
const char *bytes_text(double bytes);
const char *count_text(double count, const char *unit);
const char *whole_text(int64_t n);
const char *number_of(int64_t n, const char *what);     /* "1 node", "2 nodes" */
const char *type_text(eddy_dtype d, eddy_shape s);

/* JSON on stdout. Keys are NULL in lists. */
void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_text(const char *key, const char *value);
void json_number(const char *key, double value);
void json_integer(const char *key, int64_t value);
/* The fewest digits from which an element of this type is read again. */
void json_element(const char *key, double value, eddy_dtype d);
void json_bool(const char *key, bool value);
void json_shape(const char *key, eddy_shape s);
/* With --json, what a command prints that only writes a file: {"file": PATH}. */
void json_file(const char *path);

#endif
