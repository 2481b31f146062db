/* describe_call.c -- eddy train --describe: a call with its options, as the headers describe
 * them. */
#include "command/train/building.h"

#include <ctype.h>
#include <string.h>

static const char *type_of(const call_member *m)
{
    switch (m->kind) {
    case MEMBER_TENSOR:      return "number, layers";
    case MEMBER_LIST:        return "list of layers";
    case MEMBER_INT64:
    case MEMBER_INT:         return "whole number";
    case MEMBER_DOUBLE:      return "number";
    case MEMBER_BOOL:        return "true, false";
    case MEMBER_TEXT:        return "word";
    case MEMBER_DIMS:
    case MEMBER_SHAPE:       return "whole numbers";
    case MEMBER_DTYPE:       return "element type";
    case MEMBER_ENUM:        return "word";
    case MEMBER_ACTIVATION:  return "activation";
    case MEMBER_INITIALIZER: return "initializer";
    case MEMBER_STRUCT:      return "options";
    case MEMBER_OPTIMIZER:   return "optimizer";
    case MEMBER_GRAPH:
    case MEMBER_UPDATE:
    case MEMBER_OTHER:       break;
    }
    return NULL;
}

/* "0.001" of "(0.001)", nothing of a macro. */
static const char *default_of(const call_member *m)
{
    const char *d = m->otherwise;
    return d && (isdigit((unsigned char)*d) || *d == '-' || *d == '"') ? d : "";
}

static void print_options(const call_struct *s, const char *before)
{
    table t = { .columns = "l l l l" };
    table_row(&t, text("%soption", before), "value", "default", "");
    for (const call_member *m = s->at; m->name; m++)
        if (type_of(m))
            table_row(&t, text("%s%s", before, m->name), type_of(m), default_of(m),
                      m->comment ? m->comment : "");
    table_print(&t, stdout);
}

static void print_call(const call *k)
{
    if (as_json) {
        json_open(NULL, '{');
        json_text("name", k->name);
        json_text("description", k->comment);
        json_open("options", '[');
        for (const call_member *m = k->arguments->at; m->name; m++) {
            if (!type_of(m)) continue;
            json_open(NULL, '{');
            json_text("name", m->name);
            json_text("value", type_of(m));
            json_text("default", *default_of(m) ? default_of(m) : NULL);
            json_text("comment", m->comment);
            json_close('}');
        }
        json_close(']');
        json_close('}');
        return;
    }
    printf("%s%s%s (%s)\n%s\n\n", bold(stdout), k->name, plain(stdout), k->header,
           k->comment ? k->comment : "");
    print_options(k->arguments, "");
    for (const call_member *m = k->arguments->at; m->name; m++)
        if (m->kind == MEMBER_STRUCT) {
            printf("\n");
            print_options(m->members, text("%s: ", m->name));
        }
}

/* Up to the end of the first sentence or line. */
static const char *beginning(const char *comment)
{
    const char *end = comment;
    while (*end && *end != '\n' && !(end[0] == '.' && (end[1] == ' ' || end[1] == '\n'))) end++;
    return text("%.*s", (int)(end - comment), comment);
}

static int print_words(const char **words, const call **of)
{
    table t = { .columns = "l l" };
    if (as_json) json_open(NULL, '[');
    table_row(&t, "name", "");
    for (int i = 0; words[i]; i++)
        if (as_json) json_text(NULL, words[i]);
        else table_row(&t, words[i], of[i]->comment ? beginning(of[i]->comment) : "");
    if (as_json) json_close(']');
    else table_print(&t, stdout);
    return SUCCESS;
}

int call_describe(const char *name)
{
    const call **of = NULL, *found[4];
    const char **words_of_role = calls_of_role(name, &of);
    if (words_of_role) return print_words(words_of_role, of);
    const int   n = calls_named(name, found, 4);
    if (n == 0) {
        const char **words = room((size_t)calls_count + 1, sizeof *words);
        for (int i = 0; i < calls_count; i++) words[i] = calls[i].name;
        const char *near = nearest(name, words);
        return near ? fail(NULL, "there is no '%s'; is '%s' meant?", name, near)
                    : fail(NULL, "there is no '%s'", name);
    }
    if (as_json) json_open(NULL, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0 && !as_json) printf("\n");
        print_call(found[i]);
    }
    if (as_json) json_close(']');
    return SUCCESS;
}
