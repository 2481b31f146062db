/* sweep_rows.c -- the rows of all families as one list. */
#include "tests/lib/rows.h"
#include "build/gen/rows.h"

#include <string.h>

#define DECLARE(name) extern const sweep_family name##_rows;
EDDY_ROWS(DECLARE)
#define ADDRESS(name) &name##_rows,
static const sweep_family *const families[] = { EDDY_ROWS(ADDRESS) };
enum { FAMILIES = sizeof families / sizeof *families };

int sweep_count(void)
{
    int n = 0;
    for (int f = 0; f < FAMILIES; f++) n += families[f]->n;
    return n;
}

const sweep_row *sweep_row_at(int i)
{
    int f = 0;
    while (i >= families[f]->n) i -= families[f++]->n;
    return &families[f]->rows[i];
}

#define NAME(name) #name,
static const char *const names[] = { EDDY_ROWS(NAME) };

int sweep_family_count(void) { return FAMILIES; }
const char *sweep_family_name(int i) { return names[i]; }

int sweep_family_of(const char *op)
{
    for (int f = 0; f < FAMILIES; f++) {
        for (int i = 0; i < families[f]->n; i++)
            if (strcmp(families[f]->rows[i].op, op) == 0) return f;
        for (int i = 0; i < families[f]->n_exempts; i++)
            if (strcmp(families[f]->exempts[i].op, op) == 0) return f;
    }
    return -1;
}

/* FNV-1a, by Fowler, Noll and Vo. */
static uint64_t hash(uint64_t h, const char *text)
{
    for (; text && *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h;
}

uint64_t sweep_seed(const sweep_row *r) { return hash(hash(0xcbf29ce484222325, r->op), r->how); }

int sweep_exempt_count(void)
{
    int n = 0;
    for (int f = 0; f < FAMILIES; f++) n += families[f]->n_exempts;
    return n;
}

const sweep_exempt *sweep_exempt_at(int i)
{
    int f = 0;
    while (i >= families[f]->n_exempts) i -= families[f++]->n_exempts;
    return &families[f]->exempts[i];
}
