/* result_rows.c -- a line for each small program of seeds.c, right or wrong. */
#include "result_rows.h"

#include <stdio.h>
#include <string.h>

int wrong;

static void print_values(const char *label, int n, const double *x)
{
    printf(" %s=", label);
    for (int i = 0; i < n; i++) {
        if (i) putchar(',');
        if (isnan(x[i])) printf("none");
        else printf("%.7g", x[i]);
    }
}

void row_near(const char *id, const char *what, int n, const double *got,
              const double *want, double tolerance)
{
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && (isnan(want[i]) ? isnan(got[i]) : fabs(got[i] - want[i]) <= tolerance);
    printf("%s %s", id, what);
    print_values("got", n, got);
    print_values("want", n, want);
    printf(" %s\n", ok ? "ok" : "WRONG");
    wrong += !ok;
}

void row(const char *id, const char *what, int n, const double *got, const double *want)
{
    row_near(id, what, n, got, want, 1e-6);
}

void row_text(const char *id, const char *what, const char *got, const char *want)
{
    const bool ok = strcmp(got, want) == 0;
    printf("%s %s got=%s want=%s %s\n", id, what, got, want, ok ? "ok" : "WRONG");
    wrong += !ok;
}

/* Prints the error of a graph, once. */
void complain(const char *message)
{
    printf("error: %s\n", message);
    wrong++;
}

eddy_session *begin(eddy_graph *g)
{
    eddy_tensor init = eddy_initializer(g);
    if (eddy_graph_status(g) != EDDY_OK) complain(eddy_graph_message(g));
    eddy_session *s = eddy_session_new(g);
    if (eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL) != EDDY_OK)
        complain(eddy_session_message(s));
    return s;
}

void end(eddy_session *s, eddy_graph *g)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

void step(eddy_session *s, eddy_tensor train)
{
    if (eddy_run(s, EDDY_FEED(), EDDY_FETCH(train), NULL) != EDDY_OK)
        complain(eddy_session_message(s));
}

/* All elements of all tensors, one after the other; how many. */
int values(eddy_session *s, eddy_list tensors, double *out)
{
    int n = 0;
    for (int i = 0; i < tensors.count; i++) {
        eddy_array *a = eddy_is_valid(tensors.at[i]) ? eddy_fetch(s, tensors.at[i]) : NULL;
        if (!a) {
            if (eddy_is_valid(tensors.at[i])) complain(eddy_session_message(s));
            if (n < MOST) out[n++] = NONE;
        }
        for (int64_t k = 0; a && k < eddy_array_count(a) && n < MOST; k++)
            out[n++] = eddy_array_get(a, k);
        eddy_array_free(a);
    }
    return n;
}

/* A row with the values of these tensors; frees the graph. */
void row_of(const char *id, const char *what, eddy_graph *g, eddy_list tensors,
            const double *want)
{
    double got[MOST];
    eddy_session *s = begin(g);
    int n = values(s, tensors, got);
    row(id, what, n, got, want);
    end(s, g);
}
