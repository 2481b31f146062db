/* checkpoint.h -- checkpoints that come from elsewhere or go elsewhere: reading safetensors files,
 * names and layouts of other libraries, and keeping the last and the best checkpoint.
 *
 * eddy_save and eddy_restore (session.h) write and read all values under the names of their
 * variables. The calls here do the same with options:
 *
 *   eddy_checkpoint_map torch = eddy_torch_map();
 *   eddy_restore_checkpoint(s, "model.safetensors", .map = &torch, .partial = true);
 *   eddy_save_checkpoint(s, "small.safetensors", .map = &torch, .dtype = EDDY_BFLOAT16);
 *
 * The format is safetensors: arrays with names, and metadata, which are pairs of strings. A
 * checkpoint of several files is named by its index, "model.safetensors.index.json", as Hugging
 * Face writes it. Eddy writes checksums (CRC-32C) of the header and of each array into the metadata
 * and checks them when they are there, so that one flipped bit is an error. */
#ifndef EDDY_CHECKPOINT_H
#define EDDY_CHECKPOINT_H

#include "session.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- reading files -- */

/* An open checkpoint, of one file or several; only its headers have been read. */
typedef struct eddy_checkpoint eddy_checkpoint;

typedef struct eddy_checkpoint_open_args {
    size_t            size_ EDDY_DEFAULT(sizeof(eddy_checkpoint_open_args));
    const char       *path;               /* ending in ".json": the index of several files */
    const eddy_files *files;              /* default: POSIX */
    bool              unchecked;          /* compare no checksums */
    eddy_error       *error;              /* set on a failure, if not NULL */
} eddy_checkpoint_open_args;

/* Opens a checkpoint for reading. POSIX files are mapped into memory: another program must not
 * shorten them while they are open; replacing them by rename, as eddy_save does, is safe. The
 * caller frees the checkpoint (eddy_checkpoint_free).
 *   eddy_checkpoint *c = eddy_checkpoint_open("model.safetensors", .error = &e);
 *
 * The names of files in an index are relative to its folder and must stay in it: neither absolute
 * nor with a part "..". Symbolic links are followed. Several threads may read one checkpoint.
 *
 * NULL on an error, with the file and the byte in the message: EDDY_NOT_FOUND, EDDY_IO;
 * EDDY_CORRUPT for a damaged header or index, and names of the index that its files lack;
 * EDDY_LIMIT for a header or an index above 100 MB; EDDY_NO_MEMORY. */
EDDY_API eddy_checkpoint *eddy_checkpoint_open_with(const eddy_checkpoint_open_args *given);
#define eddy_checkpoint_open(...) \
    eddy_checkpoint_open_with(EDDY_ARGS(eddy_checkpoint_open_args, __VA_ARGS__))
/* Arrays read from it stay valid. NULL is allowed. */
EDDY_API void eddy_checkpoint_free(eddy_checkpoint *c);

/* An array in a checkpoint. The texts live as long as the checkpoint. */
typedef struct eddy_checkpoint_entry {
    const char *name;
    const char *element;     /* the type in the file: "F32", "BF16", "F8_E4M3" */
    eddy_dtype  dtype;       /* of the value: see eddy_checkpoint_value; EDDY_DEFAULT_DTYPE: none */
    eddy_shape  shape;       /* of unknown rank if there are more than 8 dimensions */
    int64_t     bytes;       /* in the file */
} eddy_checkpoint_entry;

/* The number of entries; they are sorted by the bytes of their names. */
EDDY_API int eddy_checkpoint_count(const eddy_checkpoint *c);
/* Entry i; one with a NULL name if there is none. */
EDDY_API eddy_checkpoint_entry eddy_checkpoint_entry_at(const eddy_checkpoint *c, int i);
/* The number of the entry with that name; -1 if there is none. */
EDDY_API int eddy_checkpoint_find(const eddy_checkpoint *c, const char *name);
/* The value of the entry with that name as an array, which the caller frees. It is a view of the
 * mapped file where no conversion is needed. Copy it before writing to it: the file would not
 * change, but other values of the entry would. Types that arrays lack are converted without loss:
 * I8, I16 and U16 to int32, U32 and U64 to int64, the F8 types to float32; a real array that Eddy
 * wrote for complex numbers is complex.
 *
 * NULL on an error: EDDY_NOT_FOUND; EDDY_UNIMPLEMENTED for other types and more than 8 dimensions;
 * EDDY_CORRUPT for another checksum, or a bool that is not 0 or 1; EDDY_OUT_OF_RANGE for a U64
 * above 2^63 - 1; EDDY_NO_MEMORY. */
EDDY_API eddy_array *eddy_checkpoint_value(const eddy_checkpoint *c, const char *name,
                                           eddy_error *error);

typedef struct eddy_checkpoint_new_args {
    size_t                       size_ EDDY_DEFAULT(sizeof(eddy_checkpoint_new_args));
    const eddy_checkpoint_entry *entries;   /* count of them, in any order */
    int                          count;
    /* The value of entry i as a new reference; NULL with the error set. Several threads may call
     * it. */
    eddy_array                *(*value)(void *context, int i, eddy_error *error);
    void                       (*free)(void *context);  /* NULL: nothing to free */
    void                        *context;
    eddy_error                  *error;     /* set on a failure, if not NULL */
} eddy_checkpoint_new_args;

/* A checkpoint whose entries the caller reads, from a format that Eddy does not know: it is used
 * like one that eddy_checkpoint_open has opened, and has no metadata. The entries and their texts
 * must stay valid until `free` is called, by eddy_checkpoint_free.
 *
 * NULL on an error, after which `free` has been called: EDDY_INVALID_ARGUMENT for a missing
 * function, or a name that is missing or occurs twice; EDDY_NO_MEMORY. */
EDDY_API eddy_checkpoint *eddy_checkpoint_new_with(const eddy_checkpoint_new_args *given);
#define eddy_checkpoint_new(...) \
    eddy_checkpoint_new_with(EDDY_ARGS(eddy_checkpoint_new_args, __VA_ARGS__))

/* A pair of the metadata: both are UTF-8. */
typedef struct eddy_metadata {
    const char *key, *value;
} eddy_metadata;

/* The pairs, sorted by key, without those that Eddy writes for itself ("eddy. ..."). Pair i has
 * NULL for both texts if there is none; eddy_checkpoint_text is the value of a key, or NULL. If
 * several files of a checkpoint have a key, the first of their values in the order of bytes
 * counts. */
EDDY_API int           eddy_checkpoint_metadata_count(const eddy_checkpoint *c);
EDDY_API eddy_metadata eddy_checkpoint_metadata_at(const eddy_checkpoint *c, int i);
EDDY_API const char   *eddy_checkpoint_text(const eddy_checkpoint *c, const char *key);

/* ---------------------------------------------------------------- maps -- */

enum { EDDY_RULE_NAMES = 4 };

/* How variables correspond to entries of a file. Both directions follow from one rule.
 *
 *   { { "logits/kernel" }, { "head.weight" }, .axes = "i o -> o i" }
 *   { { "block_*" "/qkv/kernel" },
 *     { "layers.*.q.weight", "layers.*.k.weight", "layers.*.v.weight" },
 *     .axes = "i o -> o i", .entries_axis = 1 }
 *
 * Names are patterns: `*` stands for any text without '/', `**` for any text, and `**` followed by
 * '/' also for nothing. In the names of entries, the k-th star stands for what the k-th star of the
 * variable's name stands for (see `separator` and `scopes` of eddy_checkpoint_map).
 *
 * axes: on the left the axes of the variable, on the right those of the entry; (a b) is the axis
 * that a and b make together, 1 an axis of that size, and `heads` has the size that the map gives.
 * The rule then fits only variables of that rank. Default: both have the same axes. Examples:
 *   "h w i o -> o i h w"         convolution of TensorFlow and Eddy, to PyTorch's
 *   "n (heads d) -> n heads d"   attention of Keras
 *
 * Several variables, which must all be in the graph, are joined along variables_axis, and several
 * entries, in the axes of the variable, along entries_axis; an axis may be negative, from the end.
 * When a rule that joins entries saves, these have equal sizes.
 *
 * The members from `parts` to `rows` are for recurrent cells, whose last axis has `parts` equal
 * parts, the gates: see eddy_torch_map. */
typedef struct eddy_checkpoint_rule {
    const char *variables[EDDY_RULE_NAMES];
    const char *entries[EDDY_RULE_NAMES];
    const char *axes;
    int         variables_axis, entries_axis;
    int         parts;
    int         order[EDDY_RULE_NAMES];  /* part k of the variable is part order[k] of an entry; all 0:
                                          * the same order */
    int         added;                   /* entries are not joined: their first `added` parts are
                                          * added, and the others follow one after another. The
                                          * first entry gets the sum when it is saved, the others
                                          * zeros */
    int         forget_part;             /* 1 + the part whose entry is larger by map.forget_bias */
    const char *state;                   /* "": the last of the joined entries has as many rows as a part
                                          * has columns; a name: as that variable, if it exists,
                                          * has */
    int         rows;                    /* if not 0: the entries are that many rows of a single entry */
    bool        equal;                   /* the rule fits only variables that can be joined: of equal
                                          * sizes except along variables_axis */
    const char *beside;                  /* the rule fits only if the graph has that variable, too */
} eddy_checkpoint_rule;

/* Names of scopes, for the parts of variables' names that `**` stands for: each part between
 * slashes, or several, may have another name in the file, with `*` as in rules; "" omits it. */
typedef struct eddy_checkpoint_scope {
    const char *scope, *name;            /* { "block_*", "layers.*" } */
} eddy_checkpoint_scope;

/* A list of rules, of which the first one that fits a variable counts. A variable without a rule
 * has its own name and layout in the file. Zero-initialize it. All pointers must stay valid. */
typedef struct eddy_checkpoint_map {
    /* Asked first, if given: writes the name of the variable's entry to `entry` and returns true,
     * or returns false. It may set *axes to the axes of a rule. */
    bool (*name)(void *context, const char *variable, eddy_shape shape, char *entry, size_t size,
                 const char **axes);
    void                              *context;
    const eddy_checkpoint_rule        *rules;
    int                                n_rules;
    const eddy_checkpoint_scope       *scopes;       /* the first one that fits counts */
    int                                n_scopes;
    const char                        *separator;    /* for '/' in what `**` stands for; default "/" */
    int64_t                            heads;        /* the size of the axis `heads` */
    double                             forget_bias;  /* of LSTMs here; see forget_part */
    bool                               torch_blocks; /* see eddy_torch_map */
    const struct eddy_checkpoint_map  *then;         /* for variables without a rule in this map */
} eddy_checkpoint_map;

/* The names and layouts of PyTorch (a state_dict) for the layers of layers/layers.h. Scopes are
 * separated by dots, so that "encoder/dense" is "encoder.dense"; .scopes gives them other names.
 *
 *   eddy_dense, eddy_conv*_layer   weight, transposed; bias; also transposed and depthwise
 *                                  convolutions (pointwise.weight and depthwise.weight)
 *   eddy_layer_norm_layer          weight, bias
 *   eddy_batch_norm_layer          weight, bias, running_mean, running_var
 *   eddy_embedding_layer           weight; so eddy_position_layer
 *   eddy_multi_head_attention      in_proj_weight, or q_proj_weight, k_proj_weight and v_proj_weight if
 *                                  the sizes of x, memory and values (kdim and vdim) differ;
 *                                  in_proj_bias, out_proj.weight, out_proj.bias
 *   eddy_rnn, eddy_stacked_rnn,    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0;
 *   eddy_bidirectional_rnn         _l1 ... for "cell_1" ...; _reverse for "bw". GRUs need reset_after
 *
 * With .torch_blocks the parts of eddy_transformer_block have the names of TransformerEncoderLayer
 * and TransformerDecoderLayer: self_attn, multihead_attn, linear1, linear2, norm1 to norm3.
 *
 * PyTorch's recurrent layers have two biases, and no forget_bias besides: here one bias is their
 * sum less .forget_bias, which is 1 as in EDDY_CELL; saved, the second is zeros.
 * num_batches_tracked of batch norms is left over. */
EDDY_API eddy_checkpoint_map eddy_torch_map(void);
/* The same for Keras, with the slashes of its scopes: kernel, bias, gamma, beta, moving_mean,
 * moving_variance, embeddings; LSTM and GRU as kernel, recurrent_kernel, bias of the layer, where a
 * GRU with reset_after has a bias of two rows; MultiHeadAttention, which needs .heads, as
 * query/kernel, key/kernel, value/kernel and attention_output/kernel. Layers with other names need
 * .scopes. */
EDDY_API eddy_checkpoint_map eddy_keras_map(void);

/* ----------------------------------------------------- saving, restoring -- */

/* Which types a restored variable may have in the file, besides its own. */
typedef enum eddy_casting {
    EDDY_CAST_EXACT,         /* those without loss: float16 and bfloat16 into float32, floating types
                              * into float64, and integers if each value fits */
    EDDY_CAST_NONE,          /* none */
    EDDY_CAST_ANY            /* also floating types and integers into floating types, rounded once */
} eddy_casting;

/* The results of a restore: names of variables, and of entries that no variable uses. Free it with
 * eddy_restore_report_free, also after a failure. */
typedef struct eddy_restore_report {
    int                n_restored, n_missing, n_left_over;
    const char *const *restored, *const *missing, *const *left_over;
    void              *memory_;
} eddy_restore_report;
EDDY_API void eddy_restore_report_free(eddy_restore_report *r);

typedef struct eddy_restore_checkpoint_args {
    size_t                     size_ EDDY_DEFAULT(sizeof(eddy_restore_checkpoint_args));
    eddy_session              *session;
    const char                *path;          /* ending in ".json": the index of several files */
    eddy_list                  variables;     /* default: all global variables */
    const eddy_named_variable *named;         /* default: the variables under their own names */
    int                        n_named;
    const eddy_checkpoint_map *map;           /* default: names and layouts of Eddy */
    eddy_casting               casting;       /* default: EDDY_CAST_EXACT */
    bool                       partial;       /* variables that the file lacks stay as they are */
    bool                       unchecked;     /* compare no checksums */
    eddy_restore_report       *report;        /* default: none */
    const eddy_checkpoint     *checkpoint;    /* an open checkpoint, instead of `path` */
} eddy_restore_checkpoint_args;

/* Sets variables from a checkpoint. Either all values are set or, on an error, none is changed. The
 * message contains all problems, as far as it has room, and the number of the others.
 *
 *  named  variables with the names that are looked up, through the map, instead of their own:
 *         those of eddy_averages_to_restore (optim/wrappers/averages.h)
 *
 * Entries that no variable asks for do not matter. Errors: EDDY_NOT_FOUND for a variable that the
 * file lacks, and with `partial` if it lacks all; EDDY_BAD_DTYPE; EDDY_BAD_SHAPE; EDDY_OUT_OF_RANGE
 * for an integer that does not fit; EDDY_INVALID_ARGUMENT for a map that is not valid; those of
 * eddy_checkpoint_open and eddy_checkpoint_value. */
EDDY_API eddy_status eddy_restore_checkpoint_with(const eddy_restore_checkpoint_args *given);
#define eddy_restore_checkpoint(...) \
    eddy_restore_checkpoint_with(EDDY_ARGS(eddy_restore_checkpoint_args, __VA_ARGS__))

typedef struct eddy_save_checkpoint_args {
    size_t                     size_ EDDY_DEFAULT(sizeof(eddy_save_checkpoint_args));
    eddy_session              *session;
    const char                *path;          /* ending in ".json": several files and their index */
    eddy_list                  variables;     /* default: all global variables */
    const eddy_named_variable *named;         /* default: the variables under their own names */
    int                        n_named;
    const eddy_checkpoint_map *map;           /* default: names and layouts of Eddy */
    eddy_dtype                 dtype;         /* of floating variables in the file; default: theirs */
    const eddy_metadata       *metadata;      /* pairs for the file; keys "eddy. ..." are reserved */
    int                        n_metadata;
    int64_t                    shard_bytes EDDY_DEFAULT(5000000000); /* of arrays in each of several files */
} eddy_save_checkpoint_args;

/* Saves variables. One file is replaced atomically: after a failure the old one is unchanged.
 *
 * For a path "m.safetensors.index.json" the arrays go to "m.GENERATION-00001-of-00003.safetensors"
 * and so on, next to the index. The index is replaced atomically when all of them are complete, and
 * then the files of the old index are removed: a crash leaves the old checkpoint or the new one. A
 * session that opens the old one at that moment may fail with EDDY_NOT_FOUND.
 *
 * Complex variables are saved as real arrays, at least float32, with a last axis of 2 and a note in
 * the metadata.
 *
 * Errors: EDDY_UNINITIALIZED for a variable without a value; EDDY_INVALID_ARGUMENT for two entries
 * with the same name, a map that is not valid, or a list that is not; EDDY_BAD_SHAPE if the axes of
 * a rule do not fit; EDDY_BAD_DTYPE for a rule that adds a number to integers; EDDY_UNIMPLEMENTED
 * for a complex variable with 8 dimensions; EDDY_IO, EDDY_NO_MEMORY. */
EDDY_API eddy_status eddy_save_checkpoint_with(const eddy_save_checkpoint_args *given);
#define eddy_save_checkpoint(...) \
    eddy_save_checkpoint_with(EDDY_ARGS(eddy_save_checkpoint_args, __VA_ARGS__))

/* ------------------------------------------------------------- keeping -- */

typedef struct eddy_keep_checkpoint_args {
    size_t                           size_ EDDY_DEFAULT(sizeof(eddy_keep_checkpoint_args));
    eddy_session                    *session;
    const char                      *folder;     /* must exist */
    int64_t                          step;       /* not negative */
    int                              last EDDY_DEFAULT(5); /* the number of checkpoints to keep */
    double                           metric EDDY_DEFAULT(NAN); /* of this checkpoint; NaN: none */
    bool                             larger_is_better; /* of metrics */
    const eddy_save_checkpoint_args *options;    /* except session and path; default: none */
} eddy_keep_checkpoint_args;

/* Saves "checkpoint-STEP.safetensors" in the folder and removes older checkpoints, except the last
 * ones that were saved, whatever their steps, and the one with the best metric, the earliest of
 * equal ones. "checkpoints.txt" lists those that are kept; it is replaced atomically after the new
 * file is complete and before old ones are removed, so that each listed checkpoint is complete
 * after a crash. A step that is listed already is replaced and is then the newest. Errors: those of
 * eddy_save_checkpoint; EDDY_INVALID_ARGUMENT for a negative step, no folder or no checkpoint to
 * keep; EDDY_CORRUPT for a damaged list; EDDY_IO if an old one cannot be removed: the next call
 * tries again. */
EDDY_API eddy_status eddy_keep_checkpoint_with(const eddy_keep_checkpoint_args *given);
#define eddy_keep_checkpoint(...) \
    eddy_keep_checkpoint_with(EDDY_ARGS(eddy_keep_checkpoint_args, __VA_ARGS__))

/* A checkpoint that was kept. */
typedef struct eddy_kept_checkpoint {
    int64_t step;                        /* -1: there is none */
    double  metric;                      /* NaN: none */
    char    path[4096];
} eddy_kept_checkpoint;

/* The checkpoint that was saved last in that folder, and the one with the best metric. files NULL
 * means POSIX. OK with a step of -1 if there is none; otherwise EDDY_IO, EDDY_CORRUPT, EDDY_LIMIT,
 * EDDY_NO_MEMORY. */
EDDY_API eddy_status eddy_latest_checkpoint(const char *folder, const eddy_files *files,
                                            eddy_kept_checkpoint *out, eddy_error *error);
EDDY_API eddy_status eddy_best_checkpoint(const char *folder, const eddy_files *files,
                                          eddy_kept_checkpoint *out, eddy_error *error);

typedef struct eddy_restore_latest_args {
    size_t                              size_ EDDY_DEFAULT(sizeof(eddy_restore_latest_args));
    eddy_session                       *session;
    const char                         *folder;
    const eddy_restore_checkpoint_args *options;    /* except session, path, checkpoint */
    eddy_kept_checkpoint               *restored;   /* which one it was, if not NULL */
} eddy_restore_latest_args;

/* Restores the checkpoint that was saved last in that folder. If its file is damaged, missing or
 * cannot be read, the one before it is restored, and so on; the message of the session is then the
 * error of the last file that was passed over. A restore changes all variables or none.
 *   eddy_restore_latest(s, "runs/7", .restored = &kept)
 *
 * Errors: EDDY_NOT_FOUND if the folder has no checkpoint; those of eddy_latest_checkpoint and
 * eddy_restore_checkpoint. The step of `restored` is then -1. */
EDDY_API eddy_status eddy_restore_latest_with(const eddy_restore_latest_args *given);
#define eddy_restore_latest(...) \
    eddy_restore_latest_with(EDDY_ARGS(eddy_restore_latest_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
