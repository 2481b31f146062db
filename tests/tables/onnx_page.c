/* onnx_page.c -- prints docs/inside/onnx.md: which operators of ONNX are read, and the results of
 * ONNX's test models.
 *
 *   onnx_page > docs/inside/onnx.md */
#include "build/gen/table.h"
#include "formats/onnx/writer/part.h"
#include "formats/onnx/build.h"
#include "tests/lib/files/onnx_cases.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *title;
    const onnx_operator *rows;
} families[] = {
    { "Elementwise", eddy__onnx_math },
    { "Shapes and constants", eddy__onnx_shapes },
    { "Arrays", eddy__onnx_arrays },
    { "Indexing", eddy__onnx_indexing },
    { "Reductions", eddy__onnx_reduce },
    { "Products of matrices", eddy__onnx_linear },
    { "Convolutions", eddy__onnx_conv },
    { "Transposed convolutions", eddy__onnx_conv_transpose },
    { "Deformable convolutions", eddy__onnx_deform_conv },
    { "Pooling", eddy__onnx_pool },
    { "Normalization", eddy__onnx_norm },
    { "Attention", eddy__onnx_attention },
    { "Recurrent layers", eddy__onnx_rnn },
    { "Branches", eddy__onnx_branch }, { "Loops", eddy__onnx_loop }, { "Scans", eddy__onnx_scan },
    { "Sequences", eddy__onnx_sequences },
    { "Quantization", eddy__onnx_quantized },
    { "Resizing", eddy__onnx_resize },
    { "Sampling", eddy__onnx_sampling }, { "Regions and boxes", eddy__onnx_regions },
    { "Signals", eddy__onnx_signal },
    { "Random numbers", eddy__onnx_random },
    { "Losses", eddy__onnx_losses },
    { "Training (ai.onnx.preview.training)", eddy__onnx_training },
    { "Texts of numbers", eddy__onnx_grams },
};
enum { FAMILIES = sizeof families / sizeof *families, MOST_OPS = 400 };

/* How the nodes of an operator were built in the tests. */
static struct {
    const char *op;
    bool        seen[EDDY_MODEL_UNKNOWN + 1];
} found[MOST_OPS];
static int n_found;

static void note(const eddy_model_entry *e)
{
    int i = 0;
    while (i < n_found && strcmp(found[i].op, e->op) != 0) i++;
    if (i == MOST_OPS) return;
    if (i == n_found) found[n_found++].op = strdup(e->op);
    found[i].seen[e->support] = true;
}

static const char *built_as(const char *op)
{
    for (int i = 0; i < n_found; i++) {
        if (strcmp(found[i].op, op) != 0) continue;
        const bool one = found[i].seen[EDDY_MODEL_NATIVE],
                   many = found[i].seen[EDDY_MODEL_COMPOSED];
        const bool bound = found[i].seen[EDDY_MODEL_BOUND];
        if (bound) return one && !many ? "one, with constants" : "several, with constants";
        return one && many ? "one or several" : one ? "one" : many ? "several" : "";
    }
    return "";
}

static void look_at(const char *folder)
{
    int    count;
    char **names = names_in(folder, &count);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s/model.onnx", folder, names[i]);
        eddy_model_report *r = eddy_onnx_check(path);
        for (int k = 0; k < eddy_model_report_size(r); k++) note(eddy_model_report_at(r, k));
        eddy_model_report_free(r);
    }
    free_names(names);
}

/* "1, 6, 11": the operator sets in which this form began; "" after the first row of a name. */
static void print_row(const onnx_operator *rows, const onnx_operator *o)
{
    char since[100] = "";
    for (const onnx_operator *p = rows; p < o; p++)
        if (strcmp(p->name, o->name) == 0) return;
    for (const onnx_operator *p = o; p->name; p++)
        if (strcmp(p->name, o->name) == 0)
            snprintf(since + strlen(since), sizeof since - strlen(since), "%s%d",
                     *since ? ", " : "", p->since);
    printf("| %s | %s | %s |\n", o->name, since, built_as(o->name));
}

static const char *intro =
    "# ONNX\n"
    "\n"
    "This page is printed by `tests/tables/onnx_page.c`. [The guide](../guide/onnx.md) shows how "
    "to read a\n"
    "model; this page lists what is read, and how it was tested.\n"
    "\n"
    "The reader is in `formats/onnx`. `parse.c` turns the file into structs, `nodes.c` finds the "
    "operator\n"
    "of each node in the tables of `formats/onnx/operators`, and the function in its row builds it "
    "with\n"
    "Eddy's builders. `propagate.c` carries the known elements of computed shapes. A model is "
    "built twice:\n"
    "first as a trial in a graph of its own, so that an error leaves the caller's graph as it "
    "was.\n"
    "\n"
    "## Results of ONNX's test models\n"
    "\n"
    "Models and data are those of ONNX 1.12 (Debian's libonnx-testdata). Results are compared with "
    "ONNX's\n"
    "own tolerances, 1e-3 relative and 1e-7 absolute; of random operators, the type and shape. "
    "First\n"
    "and second derivatives are compared with differences, at the data or, where these are at a "
    "kink,\n"
    "near them.\n"
    "\n"
    "| models | cases | pass | of these with constants in place of inputs | wrong | gradients "
    "agree |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

typedef struct tally {
    int    count, of[3], bound, differentiated, wrong_gradients;
} tally;

static char *reasons[1000];
static int   n_reasons;

static tally run_folder(const char *folder)
{
    tally  t = { 0 };
    char **names = names_in(folder, &t.count);
    for (int i = 0; i < t.count; i++) {
        char path[1000], line[1500];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        const onnx_result r = run_onnx_case(path), d = check_onnx_gradient(path);
        t.of[r.outcome]++;
        t.bound += r.outcome == ONNX_PASSED && r.bound;
        t.differentiated += d.outcome == ONNX_PASSED && d.sets > 0;
        t.wrong_gradients += d.outcome == ONNX_WRONG;
        snprintf(line, sizeof line, "| %s | %s |", names[i], r.why);
        if (r.outcome != ONNX_PASSED && n_reasons < 1000) reasons[n_reasons++] = strdup(line);
    }
    free_names(names);
    return t;
}

/* The node models again, where only the ranks of the inputs are known. */
static void print_open(void)
{
    int    count, passed = 0, bound = 0;
    char **names = names_in(ONNX_CASES "/node", &count);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/node/%s", ONNX_CASES, names[i]);
        const onnx_result r = run_open_onnx_case(path);
        passed += r.outcome == ONNX_PASSED;
        bound += r.outcome == ONNX_PASSED && r.bound;
    }
    free_names(names);
    printf("\nIf no dimension of an input is known while the model is read, %d of the node models "
           "pass, %d of\nthem with constants in place of inputs.\n",
           passed, bound);
}

static const char *outro =
    "\n"
    "## Operators that should become operations of their own\n"
    "\n"
    "These are exact, but copy more than they need: GridSample and RoiAlign gather each corner of "
    "each\n"
    "sample; DeformConv gathers the samples of all positions of the window before its product; "
    "Resize with\n"
    "linear or cubic weights gathers two or four rows per axis; GRU and RNN are loops of single\n"
    "operations; QLinearConv and ConvInteger are computed in float64; ReduceLogSum and LRN are "
    "sums over\n"
    "slices. Convolutions transpose their filters, and pools their images, since Eddy's layout has "
    "the\n"
    "channels last.\n"
    "\n"
    "## Not read\n"
    "\n"
    "- Strings: StringNormalizer, casts to and from strings, and n-grams of strings.\n"
    "- Sequences and optional values whose length depends on data; bindings give the lengths of "
    "inputs.\n"
    "- Values that a run computes as the limits of NonMaxSuppression, the sizes of windows and of "
    "STFT,\n"
    "  the numbers of MelWeightMatrix, and the output_shape of MaxUnpool; unknown sizes of images "
    "in\n"
    "  GridSample, RoiAlign and the positions of MaxPool, and of the window of a convolution.\n"
    "- Ranks above 8, and uint64 above 2^63 - 1.\n"
    "- Rounding to 8-bit floats (their weights are read), the domain ai.onnx.ml, and that of "
    "com.microsoft,\n"
    "  except MatMulNBits with constant weights.\n"
    "- ImageDecoder, RegexFullMatch, StringConcat, StringSplit, MaxRoiPool, and RoiAlign with a "
    "sampling\n"
    "  ratio of 0.\n"
    "- Loops whose shapes change between iterations, unless the loop is short and its number of "
    "iterations\n"
    "  is constant: then it is unrolled.\n";

/* The operations of the library that have no rule, with the reasons. */
static void print_unwritten(void)
{
    int n = 0, written = 0;
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++, n++)
        written += eddy__onnx_row((*op)->name) != NULL;
    printf(
        "\n"
        "## Writing\n"
        "\n"
        "`formats/onnx/writer` writes a graph as a model of operator set 17: `scope.c` visits the "
        "nodes, and each\n"
        "operation has a row in a table of `rules/`, a formula of ONNX operators or a function. %d "
        "of %d operations\n"
        "have one. `sh scripts/onnx_written.sh` compares models with ONNX Runtime.\n"
        "\n"
        "Special functions are computed in float64, by series or by Chebyshev polynomials whose "
        "coefficients are\n"
        "those of Eddy's functions: they differ from Eddy's by at most 1e-13 of 1 + |y| at 20001 "
        "points. Polygamma and Zeta are written for positive arguments. Cumulative products,\n"
        "extremes and recurrences are a Scan, as are scatters and segments of extremes, which take "
        "in one row after\n"
        "the other. Unique elements are those that ONNX Runtime finds, which does not tell NaN "
        "from "
        "others. An index\n"
        "of an array of tensors that Eddy refuses becomes one that no tensor has. Bitwise "
        "operations "
        "are arithmetic on the bits along a new axis. ONNX Runtime "
        "1.20 fails on a\n"
        "Scan of tensors that are empty only in the run.\n"
        "\n"
        "An operation that a program defines is a function in C. Where the program says how to "
        "compose it\n"
        "(`operators` of `eddy_onnx_write`), each node calls a local function of the model; "
        "attributes and types\n"
        "are part of the body, so that nodes with other ones call another function, and constants "
        "are nodes\n"
        "within it. Functions of Eddy are traced: their nodes are in the graph that calls them, "
        "and are written\n"
        "there. ONNX's checker wants a shape of each input and output of a model; those of "
        "unknown rank have\n"
        "none, which ONNX Runtime accepts.\n"
        "\n"
        "Uniform integers are whole parts of float64, so at most 2^53 different ones. Truncated "
        "normal numbers\n"
        "are drawn by the inverse of their distribution function.\n"
        "\n"
        "These operations have none:\n"
        "\n"
        "| operation | reason |\n"
        "| --- | --- |\n",
        written, n);
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++)
        if (!eddy__onnx_row((*op)->name))
            printf("| %s | %s |\n", (*op)->name, eddy__onnx_absence((*op)->name));
}

int main(void)
{
    static const char *const folders[] = { "node", "pytorch-converted", "pytorch-operator",
                                           "simple" };
    fputs(intro, stdout);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", ONNX_CASES, folders[i]);
        const tally t = run_folder(path);
        look_at(path);
        printf("| %s | %d | %d | %d | %d | %d of %d |\n", folders[i], t.count, t.of[ONNX_PASSED],
               t.bound, t.of[ONNX_WRONG], t.differentiated, t.differentiated + t.wrong_gradients);
    }
    print_open();
    printf("\nThese do not pass:\n\n| case | reason |\n| --- | --- |\n");
    for (int i = 0; i < n_reasons; i++) {
        puts(reasons[i]);
        free(reasons[i]);
    }
    printf("\n## Operators\n\nThe second column names the operator sets that introduced a form "
           "with a row of its own; a row\n"
           "reads all later forms, too. The third says as how many operations of Eddy the node is "
           "built in ONNX's\n"
           "tests, and whether it then needs constants for some inputs; it is empty if there is no "
           "test.\n");
    for (int i = 0; i < FAMILIES; i++) {
        printf("\n### %s\n\n| operator | since | operations |\n| --- | --- | --- |\n",
               families[i].title);
        for (const onnx_operator *o = families[i].rows; o->name; o++)
            print_row(families[i].rows, o);
    }
    fputs(outro, stdout);
    print_unwritten();
    for (int i = 0; i < n_found; i++) free((char *)(uintptr_t)found[i].op);
    return 0;
}
