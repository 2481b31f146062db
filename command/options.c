/* options.c -- the options of a subcommand, read by getopt_long from its table. */
#include "command/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 24, FIRST_CODE = 256 };

bool as_json = false;
static bool want_help = false;

static const option_row common[] = {
    { "json", 0, OPTION_FLAG, NULL, &as_json, "write JSON" },
    { "help", 'h', OPTION_FLAG, NULL, &want_help, "print this help" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

static const option_row *row_at(const command *c, int i)
{
    for (const option_row *r = c->options; r->name; r++)
        if (i-- == 0) return r;
    for (const option_row *r = common; r->name; r++)
        if (i-- == 0) return r;
    return NULL;
}

static void add(text_list *list, const char *word)
{
    const char **at = room((size_t)list->count + 1, sizeof *at);
    if (list->count > 0) memcpy(at, list->at, (size_t)list->count * sizeof *at);
    at[list->count++] = word;
    list->at = at;
}

text_list split(const char *from)
{
    text_list list = { 0, NULL };
    for (const char *end; *from; from = *end ? end + 1 : end) {
        end = from + strcspn(from, ",");
        if (end > from) add(&list, text("%.*s", (int)(end - from), from));
    }
    return list;
}

static bool set(const option_row *r, const char *value)
{
    if (r->kind != OPTION_FLAG && !*value) {
        fail(NULL, "--%s takes %s, not ''", r->name, r->argument);
        return false;
    }
    switch (r->kind) {
    case OPTION_FLAG: *(bool *)r->into = true; return true;
    case OPTION_TEXT: *(const char **)r->into = value; return true;
    case OPTION_EACH: add(r->into, value); return true;
    case OPTION_NAMES: {
        const text_list words = split(value);
        for (int i = 0; i < words.count; i++) add(r->into, words.at[i]);
        return true;
    }
    case OPTION_COUNT: {
        char *end;
        errno = 0;
        const long long n = strtoll(value, &end, 10);
        if (errno == 0 && end > value && !*end && n >= 0) {
            *(int64_t *)r->into = n;
            return true;
        }
        fail(NULL, "--%s takes a whole number of at least 0, not '%s'", r->name, value);
        return false;
    }
    case OPTION_END: break;
    }
    return false;
}

/* A word that getopt_long has refused: an unknown option, or a known one with a value too many. */
static bool refuse(const command *c, const char *word)
{
    const char *names[MAX_OPTIONS + 1] = { NULL };
    const char *name = text("%.*s", (int)strcspn(word, "="), word);
    for (int i = 0; i < MAX_OPTIONS && row_at(c, i); i++)
        names[i] = text("--%s", row_at(c, i)->name);
    const char *near = strncmp(name, "--", 2) == 0 ? nearest(name, names) : NULL;
    if (near && strcmp(near, name) == 0) fail(NULL, "%s takes no value, not '%s'", name, word);
    else if (near) fail(NULL, "there is no option '%s'; is '%s' meant?", name, near);
    else fail(NULL, "there is no option '%s'; 'eddy help %s' lists the options", name, c->name);
    return false;
}

bool options_read(const command *c, int argc, char **argv, int *first, bool *help)
{
    struct option names[MAX_OPTIONS + 1] = { { NULL, 0, NULL, 0 } };
    char          letters[2 * MAX_OPTIONS + 2] = ":";
    for (int i = 0; i < MAX_OPTIONS && row_at(c, i); i++) {
        const option_row *r = row_at(c, i);
        names[i] =
            (struct option){ r->name, r->kind == OPTION_FLAG ? no_argument : required_argument,
                             NULL, FIRST_CODE + i };
        if (r->letter)
            strcat(letters, (char[]){ r->letter, r->kind == OPTION_FLAG ? '\0' : ':', '\0' });
    }
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
        const bool        letter = optopt > 0 && optopt < FIRST_CODE;
        const char       *word = letter ? text("-%c", optopt) : argv[optind - 1];
        const option_row *r = NULL;
        if (code == '?') return refuse(c, word);
        if (code == ':') {
            fail(NULL, "a value is missing after '%s'; 'eddy help %s' lists the options", word,
                 c->name);
            return false;
        }
        for (int i = 0; !r && row_at(c, i); i++)
            if (code == FIRST_CODE + i || code == row_at(c, i)->letter) r = row_at(c, i);
        if (!r || !set(r, optarg)) return false;
    }
    *first = optind;
    *help = want_help;
    const int n = argc - optind;
    if (want_help || (n >= c->least && n <= c->most)) return true;
    fail(NULL, "there are %s arguments; expected: eddy %s %s",
         n < c->least ? "too few" : "too many", c->name, c->operands);
    return false;
}

void options_help(const command *c, FILE *to)
{
    fprintf(to, "%sUsage:%s eddy %s [OPTIONS] %s\n\n%s.\n\n", bold(to), plain(to), c->name,
            c->operands, c->summary);
    for (int i = 0; row_at(c, i); i++) {
        const option_row *r = row_at(c, i);
        const char       *name = text("--%s%s%s", r->name, r->argument ? " " : "",
                                      r->argument ? r->argument : "");
        fprintf(to, "  %s%c%s %-22s %s\n", r->letter ? "-" : " ", r->letter ? r->letter : ' ',
                r->letter ? "," : " ", name, r->help);
    }
}

void options_json(const command *c)
{
    json_open(NULL, '{');
    json_text("command", c->name);
    json_text("operands", c->operands);
    json_text("summary", c->summary);
    json_open("options", '[');
    for (int i = 0; row_at(c, i); i++) {
        const option_row *r = row_at(c, i);
        json_open(NULL, '{');
        json_text("name", text("--%s", r->name));
        json_text("letter", r->letter ? text("-%c", r->letter) : NULL);
        json_text("argument", r->argument);
        json_text("help", r->help);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}
