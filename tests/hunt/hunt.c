/* hunt.c -- `make hunt`: the values and the first three derivatives of the operations of the sweep
 * at 0, at the ends of the numbers, at pairs of equal, near and distant numbers, beside differences
 * in MPFR.
 *
 *   hunt [OP]... [FIRST:LAST] [-v] [-1 | -2 | -3]
 *       some operations; rows of these numbers; all findings; of so many inputs
 *
 * Prints what was tried, what was found and is explained, and fails if something is not. */
#include "tests/hunt/hunt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool verbose;
static long unexplained, explained, of_row;
static hunt_counts counts;
static char seen[64][256];
static int  n_seen;

static const char *kind_name(int kind)
{
    return kind == HUNT_NAN ? "no number" : kind == HUNT_ZERO ? "0" : kind == HUNT_KINK
         ? "no number at a kink" : "wrong";
}

static void print_finding(const finding *f, const char *why)
{
    char key[256];
    snprintf(key, sizeof key, "%s %d %d %d %d %s", eddy_dtype_name(f->dtype), f->is_complex,
             f->order, f->kind, f->j.input, why ? why : "");
    for (int i = 0; i < n_seen && !verbose; i++)
        if (strcmp(seen[i], key) == 0) return;
    if (n_seen < 64) snprintf(seen[n_seen++], sizeof seen[0], "%s", key);
    printf("    %s%s, derivative %d by %d[%" PRId64 "]", eddy_dtype_name(f->dtype),
           f->is_complex ? ", complex" : "", f->order, f->j.input, f->j.at);
    if (f->order > 1) printf(" and %d[%" PRId64 "]", f->k.input, f->k.at);
    printf(" at");
    for (int i = 0; i < f->n; i++) printf(" (%.9g, %.9g)", f->at[i][0], f->at[i][1]);
    printf(": %.9g, not %.9g: %s%s%s\n", f->got, f->want, kind_name(f->kind), why ? ": " : "",
           why ? why : "");
}

static void report(const finding *f)
{
    const char *why = hunt_explanation(f);
    if (why) explained++;
    else unexplained++, of_row++;
    if (!why || verbose) print_finding(f, why);
}

/* -n of the arguments, or 0. */
static int only_inputs(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1] >= '1' && argv[i][1] <= '3') return argv[i][1] - '0';
    return 0;
}

/* Row i, from 0 on; in arguments and lines the numbers begin at 1. */
static bool is_asked_for(int row, int argc, char **argv)
{
    const sweep_row *r = hunt_row_at(row);
    bool             any = false;
    int              first, last;
    const int        n = only_inputs(argc, argv);
    if (n && r->n != n) return false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') continue;
        if (sscanf(argv[i], "%d:%d", &first, &last) == 2) {
            if (row + 1 < first || row + 1 > last) return false;
            continue;
        }
        any = true;
        const bool how = r->how && *r->how;
        if (strcmp(argv[i], how ? r->how : r->op) == 0) return true;
    }
    return !any;
}

/* In both element types, once more with complex inputs if the row takes them. */
static bool hunt_types(int row)
{
    const sweep_row *r = hunt_row_at(row);
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64 };
    const hunt_counts before = counts;
    const clock_t start = clock();
    const char *skipped = NULL, *none;
    bool        hunted = false;
    n_seen = 0, of_row = 0;
    for (int d = 0; d < 2; d++) {
        hunted |= hunt_row(r, dtypes[d], false, report, &skipped, &counts);
        if (r->unary || r->binary) hunted |= hunt_row(r, dtypes[d], true, report, &none, &counts);
    }
    printf("%3d %-24s %-28s ", row + 1, r->op, r->how ? r->how : "");
    if (!hunted) printf("not hunted: %s\n", skipped);
    else printf("%6ld points, %6ld numbers, %5ld refused, %ld unexplained, %.1f s\n",
                counts.points - before.points, counts.compared - before.compared,
                counts.refused - before.refused, of_row,
                (double)(clock() - start) / CLOCKS_PER_SEC);
    fflush(stdout);
    return hunted;
}

int main(int argc, char **argv)
{
    int hunted = 0;
    for (int i = 1; i < argc; i++) verbose = verbose || strcmp(argv[i], "-v") == 0;
    for (int i = 0; i < hunt_count(); i++)
        if (is_asked_for(i, argc, argv)) hunted += hunt_types(i);
    printf("%d of %d rows, %ld points, %ld numbers, %ld refused; %ld findings explained, %ld not\n",
           hunted, hunt_count(), counts.points, counts.compared, counts.refused, explained,
           unexplained);
    exact_end();
    return unexplained || hunted == 0 ? 1 : 0;
}
