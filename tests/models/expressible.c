/* expressible.c -- see expressible.h. */
#include "tests/models/expressible.h"
#include "graph/op.h"
#include "tests/models/model_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- exclusions -- */

enum { MOST_EXCLUSIONS = 400 };

static struct {
    char text[300];
    int  count;
} exclusions[MOST_EXCLUSIONS];
static int n_exclusions;

static bool exclude(const char *op, const char *reason)
{
    char text[300];
    int  i = 0;
    snprintf(text, sizeof text, "%.60s: %.200s", op, reason);
    while (i < n_exclusions && strcmp(exclusions[i].text, text) != 0) i++;
    if (i == MOST_EXCLUSIONS) i--;
    else if (i == n_exclusions) strcpy(exclusions[n_exclusions++].text, text);
    exclusions[i].count++;
    return false;
}

static int by_count(const void *a, const void *b)
{
    return *(const int *)((const char *)b + sizeof exclusions->text) -
           *(const int *)((const char *)a + sizeof exclusions->text);
}

void print_exclusions(void)
{
    qsort(exclusions, (size_t)n_exclusions, sizeof *exclusions, by_count);
    for (int i = 0; i < n_exclusions; i++)
        printf("left out %d times: %s\n", exclusions[i].count, exclusions[i].text);
}

/* --------------------------------------------------------------------- nodes -- */

/* Operations whose operators have no kernel of float64 in ONNX Runtime 1.20. */
static bool lacks_kernel(const eddy_node *node)
{
    static const char *const ops[] = { "Conv", "DepthwiseConv", "AvgPool", "MatrixDeterminant" };
    if (node->n_outputs == 0 || node->outputs[0].dtype != EDDY_FLOAT64) return false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strncmp(node->op->name, ops[i], strlen(ops[i])) == 0) return true;
    return false;
}

static bool is_node_expressible(const eddy_node *node)
{
    const bool source = (node->op->flags & EDDY_OP_PLACEHOLDER) != 0;
    if (source && node->outputs[0].shape.rank < 0)
        return exclude(node->op->name, "ONNX's checker wants the ranks of inputs");
    if (strcmp(node->op->name, "SearchSorted") == 0)
        return exclude(node->op->name, "the rows that it searches are not sorted here");
    if (strcmp(node->op->name, "InitializedValue") == 0)
        return exclude(node->op->name, "it may be read before or after updates");
    if (lacks_kernel(node))
        return exclude(node->op->name, "ONNX Runtime has no kernel of float64 for its operator");
    return true;
}

/* All that a tensor is made of, in its own graph. */
static bool is_made_of_expressible(eddy_tensor t)
{
    bool *needed = calloc((size_t)t.node + 1, sizeof *needed), ok = needed != NULL;
    if (ok) needed[t.node] = true;
    for (int32_t id = t.node; ok && id >= 1; id--) {
        const eddy_node *node = eddy_node_of(eddy_node_at(t.graph, id));
        if (!needed[id]) continue;
        ok = is_node_expressible(node);
        for (int i = 0; i < node->n_inputs; i++) needed[node->inputs[i].node] = true;
        for (int i = 0; i < node->n_controls; i++) needed[node->controls[i]] = true;
    }
    free(needed);
    return ok;
}

/* An argument of a body that is being built is a value there. */
static bool is_argument(const eddy_model_entry *e)
{
    return strcmp(e->op, "Argument") == 0;
}

bool is_expressible(eddy_tensor t)
{
    eddy_error e = { 0 };
    if (eddy_outputs_of(t) > 0 && eddy_shape_of(t).rank < 0)
        return exclude(eddy_type_of(t), "ONNX's checker wants the ranks of outputs");
    if (!is_made_of_expressible(t)) return false;
    eddy_model_report *r = eddy_onnx_write_check(EDDY_LIST(t), .error = &e);
    bool              ok = r != NULL;
    if (!r) exclude(eddy_type_of(t), e.message);
    for (int i = 0; ok && i < eddy_model_report_size(r); i++) {
        const eddy_model_entry *entry = eddy_model_report_at(r, i);
        if (draws_numbers(entry->op)) ok = exclude(entry->op, "other numbers are drawn");
        else if (entry->support == EDDY_MODEL_MISSING && !is_argument(entry))
            ok = exclude(entry->op, entry->reason);
    }
    eddy_model_report_free(r);
    return ok;
}
