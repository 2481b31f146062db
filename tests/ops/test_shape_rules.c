/* test_shape_rules.c -- the shape rule of every operation, asked about the rows of the sweep and
 * about inputs and attributes that differ from them in one place. A table under tests/golden/ops/
 * rules/ has all answers: types, or the reason of a refusal. EDDY_WRITE_GOLDEN=1 writes it; read
 * the difference before you commit it. */
#include "build/gen/table.h"
#include "tests/lib/golden.h"
#include "tests/lib/random_graphs/row_graphs.h"
#include "tests/lib/rule_nodes.h"
#include "tests/lib/rule_table.h"

#include <stdlib.h>

Suite *shape_rules_suite(void);

enum { GRAPHS = 2000, CASES = 5000, TEXTS = 200 };

static eddy_graph *graphs[GRAPHS];
static rule_case  *cases;
static rule_text   texts[TEXTS];
static int         n_graphs, n_cases, n_texts;

/* ---------------------------------------------------------------------- cases -- */

/* A gradient that has no row of its own. */
static bool is_gradient(const char *op)
{
    for (int i = 0; i < sweep_exempt_count(); i++)
        if (strcmp(sweep_exempt_at(i)->op, op) == 0) return strstr(op, "Grad") != NULL;
    return false;
}

/* Texts of attributes, each once. */
static void add_texts(const eddy_node *node)
{
    for (const eddy_attr_field *f = node->op->attrs; node->attrs && f && f->name; f++) {
        if (f->kind != EDDY_ATTR_STRING || strcmp(f->name, "message") == 0) continue;
        const char *text = *(const char *const *)((const char *)node->attrs + f->offset);
        int         i = 0;
        while (i < n_texts && (strcmp(texts[i].attribute, f->name) != 0 ||
                               strcmp(texts[i].text, text) != 0)) i++;
        if (i == TEXTS) ck_abort_msg("too many texts");
        if (i == n_texts) texts[n_texts++] = (rule_text){ f->name, text };
    }
}

/* The nodes of an operation, or of all if it is NULL. */
static void add_nodes(eddy_graph *g, const char *op)
{
    fits(g);
    ck_assert_int_lt(n_graphs, GRAPHS);
    graphs[n_graphs++] = g;
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(g, id));
        if (!node || (op && strcmp(node->op->name, op) != 0 && !is_gradient(node->op->name)))
            continue;
        if (!rule_case_of(&cases[n_cases], node)) continue;
        if (++n_cases == CASES) ck_abort_msg("too many cases");
        add_texts(node);
    }
}

static int by_title(const void *a, const void *b)
{
    const rule_case *x = a, *y = b;
    const int order = strcmp(x->kind, y->kind);
    return order != 0 ? order : strcmp(x->title, y->title);
}

static int by_text(const void *a, const void *b)
{
    const rule_text *x = a, *y = b;
    const int order = strcmp(x->attribute, y->attribute);
    return order != 0 ? order : strcmp(x->text, y->text);
}

/* Builds every row, and keeps one case of each kind. Their order does not depend on that of the
 * nodes, in which compilers differ. */
static void begin(void)
{
    cases = calloc(CASES, sizeof *cases);
    for (int i = 0; i < sweep_count(); i++) {
        const sweep_row *r = sweep_row_at(i);
        row_graph        b;
        row_graph_begin(&b, r, r->shape, "rules", NULL);
        for (int k = 0; k < r->n; k++)
            b.t.tensor[b.t.n++] = eddy_placeholder(b.t.graph, NULL, EDDY_FLOAT64, r->shape[k]);
        row_graph_build(&b);
        eddy_graph_clear_error(b.t.graph);
        add_nodes(b.t.graph, r->op);
    }
    eddy_graph *g = eddy_graph_new();
    rule_nodes_build(g);
    add_nodes(g, NULL);
    qsort(cases, (size_t)n_cases, sizeof *cases, by_title);
    int n = 0;
    for (int i = 0; i < n_cases; i++)
        if (n == 0 || strcmp(cases[n - 1].kind, cases[i].kind) != 0) cases[n++] = cases[i];
    n_cases = n;
    for (int i = 0; i < n_cases; i++)       /* it would be in no table */
        if (sweep_family_of(cases[i].op->name) < 0)
            ck_abort_msg("%s is of no family of rows", cases[i].op->name);
    texts[n_texts++] = (rule_text){ "shapes", "..., ...; d" };
    texts[n_texts++] = (rule_text){ "shapes", "a,b,c,d,e,f,g,h,i;" };
    texts[n_texts++] = (rule_text){ "shapes", ">=,3; d" };
    qsort(texts, (size_t)n_texts, sizeof *texts, by_text);
}

static void end(void)
{
    for (int i = 0; i < n_graphs; i++) eddy_graph_free(graphs[i]);
    free(cases);
}

START_TEST(rules)
{
    char name[100];
    snprintf(name, sizeof name, "ops/rules/%s", sweep_family_name(_i));
    golden_begin(name);
    for (int i = 0; i < n_cases; i++)
        if (sweep_family_of(cases[i].op->name) == _i)
            rule_table_add(&cases[i], i == 0 || cases[i - 1].op != cases[i].op, n_texts, texts);
    golden_end();
}
END_TEST

Suite *shape_rules_suite(void)
{
    Suite *s = suite_create("shape_rules");
    TCase *c = tcase_create("rules");
    tcase_add_unchecked_fixture(c, begin, end);
    tcase_add_loop_test(c, rules, 0, sweep_family_count());
    suite_add_tcase(s, c);
    return s;
}
