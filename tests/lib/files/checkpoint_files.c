/* checkpoint_files.c -- see checkpoint_files.h. */
#include "tests/lib/files/checkpoint_files.h"

#include <check.h>

void has_entry(const eddy_checkpoint *c, const char *name, eddy_dtype d, int n,
               const double *want)
{
    eddy_error  e = { 0 };
    eddy_array *a = eddy_checkpoint_value(c, name, &e);
    ck_assert_msg(a != NULL, "%s: %s", name, e.message);
    ck_assert_int_eq(eddy_array_dtype(a), d);
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(eddy_array_get(a, i) == want[i], "%s[%d] is %g", name, i,
                      eddy_array_get(a, i));
    eddy_array_free(a);
}

void damage_file(memory_files *files, const char *name, void (*use)(memory_files *))
{
    memory_content *c = (memory_content *)memory_files_get(files, name);
    const size_t    n = c->size;
    for (size_t i = 0; i < n; i++) {
        c->size = i;
        use(files);
        c->size = n;
        c->bytes[i] = (char)(c->bytes[i] ^ (1 << (i % 8)));
        use(files);
        c->bytes[i] = (char)(c->bytes[i] ^ (1 << (i % 8)));
    }
}

void use_checkpoint(eddy_checkpoint *c, const eddy_error *e)
{
    ck_assert((c != NULL) == (e->status == EDDY_OK));
    for (int i = 0; i < eddy_checkpoint_count(c); i++) {
        eddy_error why = { 0 };
        eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, i).name, &why);
        ck_assert((a != NULL) == (why.status == EDDY_OK));
        eddy_array_free(a);
    }
    eddy_checkpoint_free(c);
}
