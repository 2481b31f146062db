/* test_row_bits.c -- the rows of the sweep, and their first gradients, give the same bits with each
 * instruction set, except for the operations that other_bits.c lists. Each node is compared by
 * itself: where its inputs agree, its outputs must.
 *
 *   EDDY_WRITE_BITS=FILE      writes hashes of all nodes with the instructions in use
 *   EDDY_COMPARE_BITS=FILE    compares with those of another process, perhaps on another processor
 *   EDDY_BITS_CHANGE=SETS     ... with the same choices of OpenBLAS and the C library in both
 *   EDDY_BITS_CHANGE=PINNED   ... with the three variables of docs/guide/bits.md in both */
#include "tests/lib/levels.h"
#include "tests/lib/bits/other_bits.h"
#include "tests/lib/bits/row_runs.h"

#include <stdlib.h>

Suite *row_bits_suite(void);

#if defined(__x86_64__)
#define PROCESSOR "x86_64"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#else
#define PROCESSOR "another"
#endif

static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_FLOAT16,
                                     EDDY_BFLOAT16, EDDY_COMPLEX64, EDDY_COMPLEX128 };
enum { DTYPES = sizeof dtypes / sizeof *dtypes, MOST_LISTED = 256 };

/* ------------------------------------------------------------------ differences -- */

/* What a comparison has found. */
typedef struct comparison {
    bits_change change;
    int         nodes, as_listed, differences;
    bool        differs[MOST_LISTED];       /* by the entry of other_bits.c */
    char        text[7000];                 /* the first ones, which are bugs or undocumented */
} comparison;

/* A line for what differs, with the first row in which it does. */
static void complain(comparison *c, const char *what, eddy_dtype d, const char *where)
{
    const size_t n = strlen(c->text);
    char         line[120];
    snprintf(line, sizeof line, "\n  %s %s: ", what, eddy_dtype_name(d));
    c->differences++;
    if (!strstr(c->text, line)) snprintf(c->text + n, sizeof c->text - n, "%s%s", line, where);
}

/* Compilers evaluate arguments in different orders, and then number nodes differently: for each
 * node, one of `want` must have the same inputs and outputs, unless none has the same inputs. */
static void compare_nodes(comparison *c, const row_run *r, int n, const node_bits *want,
                          const node_bits *got)
{
    c->nodes += n;
    for (int i = 0; i < n; i++) {
        bool same = want[i].in == got[i].in && want[i].out == got[i].out, inputs = same;
        for (int j = 0; j < n && !same; j++) {
            inputs = inputs || want[j].in == got[i].in;
            same = want[j].in == got[i].in && want[j].out == got[i].out;
        }
        if (same || !inputs) continue;
        const int listed = other_bits_of(got[i].node, c->change);
        c->as_listed += listed >= 0;
        if (listed >= 0) c->differs[listed] = true;
        else complain(c, got[i].node->op->name, other_bits_type(got[i].node), r->title);
    }
}

/* With passes, other nodes run, and what they compute is not listed if no node is. */
static void compare_results(comparison *c, const row_run *r, uint32_t want, uint32_t got)
{
    if (want == got) return;
    for (int32_t id = 1; id <= eddy_graph_size(r->t.graph); id++)
        if (other_bits_of(eddy_node_of(eddy_node_at(r->t.graph, id)), c->change) >= 0) return;
    complain(c, "with passes,", r->dtype, r->title);
}

/* Every entry whose differences the rows show has differed. */
static void compare_list(comparison *c)
{
    for (int i = 0; i < other_bits_count(); i++) {
        const other_bits *b = other_bits_at(i);
        if (b->shown & c->change && !c->differs[i])
            complain(c, b->op, EDDY_DEFAULT_DTYPE, "is in other_bits.c, and has the same bits");
    }
}

static void check(const comparison *c)
{
    ck_assert_msg(c->differences == 0, "%d differences that docs/guide/bits.md does not have:%s",
                  c->differences, c->text);
}

/* ------------------------------------------------------------- instruction sets -- */

static void compare_sets(comparison *c, const row_run *r)
{
    static node_bits want[ROW_NODES], got[ROW_NODES];
    limit_to(EDDY_BASELINE);
    const int      n = row_run_nodes(r, want);
    const uint32_t results = n > 0 ? row_run_results(r) : 0;
    for (int set = EDDY_AVX2; set < EDDY_SETS && n > 0; set++) {
        if (!limit_to(set)) continue;
        ck_assert_int_eq(row_run_nodes(r, got), n);
        compare_nodes(c, r, n, want, got);
        compare_results(c, r, results, row_run_results(r));
    }
    eddy_limit_instructions(NULL);
}

/* Calls visit with each row in each type: of the row's sizes those that every row takes, and larger
 * ones where it has them. */
static void each_run(void (*visit)(void *context, const row_run *r), void *context)
{
    for (int i = 0; i < sweep_count(); i++)
        for (int k = 0; k < 2 * DTYPES; k++) {
            row_run r;
            if (row_run_begin(&r, i, dtypes[k % DTYPES], k >= DTYPES)) visit(context, &r);
            row_run_end(&r);
        }
}

static void visit_sets(void *context, const row_run *r) { compare_sets(context, r); }

static bool has_fma(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

START_TEST(instruction_sets)
{
    comparison c = { .change = SETS };
    each_run(visit_sets, &c);
    if (has_fma()) compare_list(&c);
    check(&c);
}
END_TEST

/* --------------------------------------------------------------- other machines -- */

typedef struct hashes {
    FILE      *file;
    comparison c;
} hashes;

static void write_run(void *context, const row_run *r)
{
    static node_bits bits[ROW_NODES];
    FILE            *f = ((hashes *)context)->file;
    const int        n = row_run_nodes(r, bits);
    fprintf(f, "%s: %d\n", r->title, n);
    for (int i = 0; i < n; i++)
        fprintf(f, "%08x %08x\n", (unsigned)bits[i].in, (unsigned)bits[i].out);
    if (n > 0) fprintf(f, "%08x\n", (unsigned)row_run_results(r));
}

static void compare_run(void *context, const row_run *r)
{
    static node_bits want[ROW_NODES], got[ROW_NODES];
    hashes          *h = context;
    char             title[sizeof r->title], line[2 * sizeof title];
    const int        n = row_run_nodes(r, got);
    snprintf(title, sizeof title, "%s", r->title);
    ck_assert(fgets(line, sizeof line, h->file));
    char *end = strrchr(line, ':');
    ck_assert_msg(end && atoi(end + 1) == n, "%s has %d nodes, not %s", title, n, line);
    *end = 0;
    ck_assert_str_eq(line, title);
    for (int i = 0; i < n; i++) {
        unsigned in, out;
        ck_assert_int_eq(fscanf(h->file, "%x %x\n", &in, &out), 2);
        want[i] = (node_bits){ NULL, in, out };
    }
    if (n <= 0) return;
    compare_nodes(&h->c, r, n, want, got);
    unsigned results;
    ck_assert_int_eq(fscanf(h->file, "%x\n", &results), 1);
    compare_results(&h->c, r, results, row_run_results(r));
}

START_TEST(written)
{
    hashes h = { .file = fopen(getenv("EDDY_WRITE_BITS"), "w") };
    ck_assert_ptr_nonnull(h.file);
    fprintf(h.file, "%s\n", PROCESSOR);
    each_run(write_run, &h);
    ck_assert_int_eq(fclose(h.file), 0);
}
END_TEST

static bits_change change_asked(void)
{
    const char *asked = getenv("EDDY_BITS_CHANGE");
    return !asked ? MACHINES : strcmp(asked, "SETS") == 0 ? SETS : PINNED;
}

/* Between instruction sets and between kinds of processors, the rows must show what they can. */
START_TEST(compared)
{
    hashes h = { .file = fopen(getenv("EDDY_COMPARE_BITS"), "r") };
    char   processor[16];
    h.c.change = change_asked();
    ck_assert_ptr_nonnull(h.file);
    ck_assert_int_eq(fscanf(h.file, "%15s\n", processor), 1);
    each_run(compare_run, &h);
    ck_assert_int_eq(fgetc(h.file), EOF);
    fclose(h.file);
    if (h.c.change == SETS || strcmp(processor, PROCESSOR) != 0) compare_list(&h.c);
    printf("%d nodes, %d with other bits as listed\n", h.c.nodes, h.c.as_listed);
    check(&h.c);
}
END_TEST

/* ------------------------------------------------------------------------ rows -- */

/* Enough rows take each type, and larger sizes. */
START_TEST(most_rows_are_compared)
{
    static const int percent[DTYPES] = { 100, 100, 80, 80, 30, 30 };
    for (int k = 0; k < 2 * DTYPES; k++) {
        int built = 0;
        for (int i = 0; i < sweep_count(); i++) {
            row_run r;
            built += row_run_begin(&r, i, dtypes[k % DTYPES], k >= DTYPES);
            row_run_end(&r);
        }
        const int least = k < DTYPES ? percent[k] : percent[k - DTYPES] / 2;
        ck_assert_msg(100 * built >= least * sweep_count(), "%d of %d rows in %s", built,
                      sweep_count(), eddy_dtype_name(dtypes[k % DTYPES]));
    }
}
END_TEST

Suite *row_bits_suite(void)
{
    Suite *s = suite_create("row_bits");
    TCase *c = tcase_create("rows"), *sets = tcase_create("instruction sets");
    TCase *files = tcase_create("files");
    tcase_set_tags(sets, "many");
    tcase_set_timeout(files, 3000);
    tcase_add_test(c, most_rows_are_compared);
    if (getenv("EDDY_WRITE_BITS")) tcase_add_test(files, written);
    if (getenv("EDDY_COMPARE_BITS")) tcase_add_test(files, compared);
    tcase_add_test(sets, instruction_sets);
    suite_add_tcase(s, c);
    suite_add_tcase(s, sets);
    suite_add_tcase(s, files);
    return s;
}
