/* main.c -- the program `eddy`: a subcommand for each question about a model. */
#include "command/command.h"

#include <string.h>

static int                help(char **operands, int count);
static const option_row   no_options[] = { { NULL, 0, OPTION_END, NULL, NULL, NULL } };
static const command      command_help = { "help", "[COMMAND]", "Print the options of a command",
                                           0, 1, no_options, help };
static const command *const commands[] = {
    &command_show, &command_grad,  &command_run, &command_convert, &command_diff,
    &command_check, &command_bench, &command_train, &command_report, &command_help, NULL,
};

static const command *find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int print_help(FILE *to)
{
    fprintf(to, "%sUsage:%s eddy COMMAND [OPTIONS] ARGUMENTS\n\n", bold(to), plain(to));
    for (int i = 0; commands[i]; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to,
            "\nA model is a graph of Eddy (YAML), an ONNX file, or a TensorFlow graph, SavedModel\n"
            "or TensorFlow.js model. Checkpoints are safetensors, PyTorch, TensorFlow, Keras and\n"
            "NumPy files.\n");
    return to == stdout ? SUCCESS : TROUBLE;
}

/* For completion in shells: a line for each command, its name and its options. */
static int print_words(void)
{
    for (int i = 0; commands[i]; i++) {
        printf("%s --json --help", commands[i]->name);
        for (const option_row *r = commands[i]->options; r->name; r++) printf(" --%s", r->name);
        putchar('\n');
    }
    return SUCCESS;
}

static int unknown(const char *name)
{
    const char *names[sizeof commands / sizeof *commands] = { NULL };
    for (int i = 0; commands[i]; i++) names[i] = commands[i]->name;
    const char *near = nearest(name, names);
    if (near) return fail(NULL, "there is no command '%s'; is '%s' meant?", name, near);
    return fail(NULL, "there is no command '%s'; 'eddy help' lists the commands", name);
}

static int print_version(bool json)
{
    if (!json) return printf("eddy %s\n", eddy_version()) < 0 ? TROUBLE : SUCCESS;
    as_json = true;
    json_open(NULL, '{');
    json_text("version", eddy_version());
    json_close('}');
    return SUCCESS;
}

/* All commands with their options. */
static int print_json(void)
{
    json_open(NULL, '[');
    for (int i = 0; commands[i]; i++) options_json(commands[i]);
    json_close(']');
    return SUCCESS;
}

static int help(char **operands, int count)
{
    const command *c = count > 0 ? find(operands[0]) : NULL;
    command_name = NULL;
    if (count > 0 && !c) return unknown(operands[0]);
    if (!c) return as_json ? print_json() : print_help(stdout);
    if (as_json) options_json(c);
    else options_help(c, stdout);
    return SUCCESS;
}

static int run(int argc, char **argv)
{
    if (argc < 2) return print_help(stderr);
    if (strcmp(argv[1], "--version") == 0)
        return print_version(argc > 2 && strcmp(argv[2], "--json") == 0);
    if (strcmp(argv[1], "words") == 0) return print_words();
    const bool     wants = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    const command *c = wants ? &command_help : find(argv[1]);
    if (!c) return unknown(argv[1]);
    int  first;
    bool wants_help;
    command_name = c->name;
    if (!options_read(c, argc - 1, argv + 1, &first, &wants_help)) return TROUBLE;
    if (wants_help) return help((char *[]){ (char *)c->name }, 1);
    return c->run(argv + 1 + first, argc - 1 - first);
}

int main(int argc, char **argv)
{
    const int status = run(argc, argv);
    room_free();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("eddy: the output cannot be written");
        return TROUBLE;
    }
    return status;
}
