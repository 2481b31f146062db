/* option_table.h -- an optimizer defined by a table of its options; not installed.
 *
 * The arguments of the constructor are the first members of the optimizer's state. A row gives
 * the member of an option, and processing the rows converts the arguments to hyper-parameters in
 * place. The header has the defaults, at the members. */
#ifndef EDDY_OPTIM_OPTION_TABLE_H
#define EDDY_OPTIM_OPTION_TABLE_H

#include "graph/call_options.h"
#include "optim/internal.h"

#include <math.h>
#include <stddef.h>

typedef enum eddy_option_kind {
    EDDY_OPTION_TENSOR,              /* a hyper-parameter as eddy__hyper_settle takes it */
    EDDY_OPTION_POSITIVE,            /* a double above 0 */
    EDDY_OPTION_NOT_NEGATIVE         /* ... not below 0 */
} eddy_option_kind;

typedef struct eddy_option_row {
    const char      *name;           /* NULL ends a table */
    size_t           offset;         /* in the arguments */
    eddy_option_kind kind;
    double           fallback;       /* of a tensor; NaN: required; infinite: none, it stays invalid */
} eddy_option_row;

#define EDDY_OPTION(args, member, kind, fallback) { #member, offsetof(args, member), kind, fallback }
#define TENSOR(args, member) \
    EDDY_OPTION(args, member, EDDY_OPTION_TENSOR, EDDY_DEFAULT_OF(args, member))
#define REQUIRED(args, member) EDDY_OPTION(args, member, EDDY_OPTION_TENSOR, NAN)
#define OPTIONAL(args, member) EDDY_OPTION(args, member, EDDY_OPTION_TENSOR, INFINITY)
#define POSITIVE(args, member) EDDY_OPTION(args, member, EDDY_OPTION_POSITIVE, 0)
#define NOT_NEGATIVE(args, member) EDDY_OPTION(args, member, EDDY_OPTION_NOT_NEGATIVE, 0)

/* The common first members of the arguments of all optimizers. */
typedef struct eddy_optimizer_head {
    size_t      size_;
    eddy_graph *graph;
    eddy_tensor learning_rate;
} eddy_optimizer_head;

typedef struct eddy_optimizer_rule {
    eddy_optimizer_def     def;
    size_t                 args_size;    /* size of the arguments, with which the state begins */
    const eddy_option_row *options;
} eddy_optimizer_rule;

/* A new optimizer with these arguments, settled; NULL with the error set. */
eddy_optimizer *eddy__optimizer_make(const eddy_optimizer_rule *rule, const void *args,
                                     const char *name);
/* The same; unless it is lazy, sparse gradients are converted to dense ones. */
eddy_optimizer *eddy__optimizer_make_lazy(const eddy_optimizer_rule *rule, const void *args,
                                          const char *name, bool lazy);

#endif
