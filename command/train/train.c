/* train.c -- eddy train: a training that a YAML file describes. */
#include "command/train/results.h"

#include <string.h>

static bool        resume = false, dry_run = false;
static const char *output = NULL, *describe = NULL;
static text_list   settings;

static const option_row options[] = {
    { "output", 'o', OPTION_TEXT, "FOLDER", &output, "the folder of the results" },
    { "resume", 'r', OPTION_FLAG, NULL, &resume, "go on from the last checkpoint" },
    { "set", 's', OPTION_EACH, "KEY=VALUE", &settings, "change the configuration: epochs=5" },
    { "dry-run", 'n', OPTION_FLAG, NULL, &dry_run, "print the network, its memory and the steps" },
    { "describe", 'd', OPTION_TEXT, "NAME", &describe, "describe a layer, a loss, an optimizer" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

/* "digits" of "examples/train/digits.yaml". */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? text("%.*s", (int)(dot - name), name) : name;
}

static bool prepare(training *t, const char *path)
{
    const char *slash = strrchr(path, '/');
    t->root = config_read(path);
    if (!t->root) return false;
    for (int i = 0; i < settings.count; i++)
        if (!config_set((config *)(uintptr_t)t->root, settings.at[i])) return false;
    t->name = name_of(path);
    t->b.folder = slash ? text("%.*s", (int)(slash - path), path) : "";
    t->folder = text("runs/%s", t->name);
    if (!config_text(config_get(t->root, "output"), &t->folder)) return false;
    if (output) t->folder = output;
    return training_plan(t) && network_make(t);
}

static int run(char **operands, int count)
{
    training *t = room(1, sizeof *t);
    if (describe && count == 0) return call_describe(describe);
    if (describe || count != 1)
        return fail(NULL, "expected: eddy train CONFIG.yaml, or eddy train --describe NAME");
    int status = TROUBLE;
    if (prepare(t, operands[0])) status = dry_run ? training_show(t) : training_run(t, resume);
    training_free(t);
    return status;
}

const command command_train = {
    "train", "CONFIG", "Train a network that a YAML file describes", 0, 1, options, run,
};
