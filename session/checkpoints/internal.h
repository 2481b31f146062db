/* internal.h -- declarations shared by the files that read and write checkpoints. */
#ifndef EDDY_SESSION_CHECKPOINTS_INTERNAL_H
#define EDDY_SESSION_CHECKPOINTS_INTERNAL_H

#include "graph/base/text.h"
#include "graph/files/safetensors.h"
#include "session/checkpoint.h"

/* The key of a note in the metadata that an entry has complex numbers, before its name. */
#define EDDY_COMPLEX_NOTE "eddy.complex."
/* The key of the counts of draws, in the metadata of a checkpoint of all variables. */
#define EDDY_DRAWS_KEY "eddy.draws"

/* --------------------------------------------------- open checkpoints -- */

typedef struct checkpoint_item {
    const char                   *name;
    const eddy_safetensors       *file;      /* NULL: the caller reads the value */
    const eddy_safetensors_entry *entry;
    bool                          is_complex;
    const eddy_checkpoint_new_args *reader;
    int                           number;    /* among the reader's entries */
} checkpoint_item;

struct eddy_checkpoint {
    const eddy_allocator *allocator;
    eddy_safetensors     *files;
    int                   n_files;
    checkpoint_item      *items;         /* by name */
    int                   n_items;
    eddy_metadata        *metadata;      /* by key */
    int                   n_metadata, metadata_capacity;
    struct shard_index   *index;         /* NULL: a single file */
    eddy_checkpoint_new_args reader;     /* of a checkpoint that the caller reads */
};

/* Opens one file or an index; NULL with the error set. */
eddy_checkpoint *eddy__checkpoint_open(const eddy_files *files, const eddy_allocator *a,
                                       const char *path, bool unchecked, eddy_error *e);
const checkpoint_item *eddy__checkpoint_item(const eddy_checkpoint *c, const char *name);
eddy_array *eddy__checkpoint_item_value(const checkpoint_item *i, eddy_error *e);
/* True for the path of an index. */
bool eddy__is_index(const char *path);

/* The index of a checkpoint of several files: which file has which entry (shard_index.c). */
typedef struct shard_entry {
    const char *name, *file;
    size_t      offset;                  /* of the name in the index, for messages */
    int         number;                  /* of the file */
} shard_entry;

typedef struct shard_index {
    const eddy_allocator *allocator;
    char                 *text;          /* contains the names */
    size_t                size;
    shard_entry          *entries;       /* by name */
    int                   count, capacity;
} shard_index;

bool eddy__shard_index_read(shard_index *x, const eddy_files *files, const eddy_allocator *a,
                            const char *path, eddy_error *e);
void eddy__shard_index_free(shard_index *x);
/* `file` in the folder of `path`; false if it is too long. */
bool eddy__beside(const char *path, const char *file, char out[EDDY_MAX_PATH]);

/* --------------------------------------------------- values of entries -- */

bool eddy__may_cast(eddy_dtype from, eddy_dtype to, eddy_casting casting);
/* The elements of x as type d, to which they may be cast; x itself, with another reference, if it
 * has that type. NULL with the error set, which names `what`: EDDY_OUT_OF_RANGE, EDDY_NO_MEMORY. */
eddy_array *eddy__cast_array(const eddy_allocator *a, eddy_array *x, eddy_dtype d, const char *what,
                             eddy_error *e);
/* Complex elements as pairs of real ones in a last axis of 2, and back; a view with
 * a reference to x. NULL if out of memory. */
eddy_array *eddy__as_real(eddy_array *x);
eddy_array *eddy__as_complex(eddy_array *x);

/* The axes of a rule, parsed: axes_to_entry and its inverse permute and reshape (axes.c). */
enum { EDDY_MOST_ATOMS = 12 };
typedef struct axes_side {
    int n, first[EDDY_MAX_RANK + 1];     /* atoms of each axis: from first[i] to first[i + 1] */
    int atom[EDDY_MOST_ATOMS];
} axes_side;
typedef struct axes_map {
    const char *text;
    axes_side left, right;
    int       n_atoms, heads;            /* the atom `heads`; -1: none */
    unsigned  ones;                      /* bits of the atoms of size 1 */
} axes_map;

/* False if the text is not valid. */
bool        eddy__axes_parse(const char *text, axes_map *m);
/* x with the axes of the other side. `wanted`: the known dimensions of the result, or of unknown
 * rank. NULL with the error set. */
eddy_array *eddy__axes_apply(const eddy_allocator *a, const axes_map *m, bool to_entry,
                             int64_t heads, const eddy_array *x, eddy_shape wanted,
                             const char *what, eddy_error *e);

/* Several arrays of one type as one, along an axis, and the parts of one (pieces.c). */
eddy_array *eddy__join_arrays(const eddy_allocator *a, int n, eddy_array *const *x, int axis,
                              const char *what, eddy_error *e);
eddy_array *eddy__slice_array(const eddy_allocator *a, const eddy_array *x, int axis, int64_t begin,
                              int64_t size, const char *what, eddy_error *e);
/* Adds x, floating elements of the type of y. */
void eddy__add_array(eddy_array *y, const eddy_array *x);
void eddy__add_number(eddy_array *y, int64_t begin, int64_t n, double x);

/* ------------------------------------------------------------- matches -- */

/* The rule that a variable has, and the variables and entries that it then connects. */
typedef struct rule_match {
    const eddy_checkpoint_map *map;      /* NULL: the variable has no rule, and no axes */
    eddy_checkpoint_rule       rule;     /* at least one variable and one entry */
    int                        n_variables, n_entries;
    char                      *variables[EDDY_RULE_NAMES], *entries[EDDY_RULE_NAMES];
    char                      *state;    /* the variable that rule.state names; NULL: none */
    char                      *beside;   /* likewise */
    axes_map                   axes;
} rule_match;

/* Finds the rule of the variable; texts are allocated in `texts`. False with the error set. */
bool eddy__match_rule(const eddy_checkpoint_map *map, eddy_graph *g, const char *variable,
                      eddy_shape shape, eddy_arena *texts, rule_match *out, eddy_error *e);

/* The static shape of the variable of that name; false if the graph has none. */
bool eddy__find_variable(eddy_graph *g, const char *variable, eddy_shape *shape);

/* The values of the match's variables, which the caller frees, from those of its entries, and the
 * reverse. shapes: static shapes of the variables; state_size: rows of the state, 0 if not
 * known. */
bool eddy__rule_to_variables(const eddy_allocator *a, const rule_match *m,
                             eddy_array *const *entries, const eddy_shape *shapes,
                             eddy_array **variables, eddy_error *e);
bool eddy__rule_to_entries(const eddy_allocator *a, const rule_match *m,
                           eddy_array *const *variables, int64_t state_size, eddy_array **entries,
                           eddy_error *e);

/* -------------------------------------------------- variables of a call -- */

typedef struct checkpoint_target {
    const eddy_node *node;
    const char      *name;               /* that is looked up */
    eddy_array      *value;
    bool             done;
} checkpoint_target;

typedef struct checkpoint_targets {
    const eddy_allocator *allocator;
    checkpoint_target    *at;            /* in the order of the call */
    checkpoint_target   **by_name;
    int                   count;
} checkpoint_targets;

/* The variables of the call `who`: the list, the pairs, or all global ones. False with the error
 * set. */
bool eddy__targets_collect(const char *who, eddy_session *s, eddy_list variables,
                           const eddy_named_variable *named, int n_named, checkpoint_targets *out,
                           eddy_error *e);
checkpoint_target *eddy__targets_find(const checkpoint_targets *t, const char *name);
void               eddy__targets_free(checkpoint_targets *t);

#endif
