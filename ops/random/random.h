/* random.h -- helpers shared by operations that draw random numbers. */
#ifndef EDDY_OPS_RANDOM_RANDOM_H
#define EDDY_OPS_RANDOM_RANDOM_H

#include "graph/internal.h"
#include "ops/kernels/random/philox.h"

/* ------------------------------------- uniform and normal (ops/random/random.c) -- */

/* Attributes of the real distributions: a and b are minval and maxval, or mean and stddev.
 * `shape` is used only if no input determines the shape. */
typedef struct eddy_random_attrs {
    eddy_shape shape;
    eddy_dtype dtype;
    double     a, b;
    int64_t    seed;
} eddy_random_attrs;

extern const eddy_attr_field eddy__uniform_fields[], eddy__normal_fields[];
bool eddy__infer_uniform(eddy_infer *c);
bool eddy__infer_normal(eddy_infer *c);

/* Fill output 0 according to the attributes. */
void eddy__fill_uniform(const eddy_kernel *k, eddy_stream s);
void eddy__fill_normal(const eddy_kernel *k, eddy_stream s, bool truncated);

/* ----------------------------------------------- seed tensors -- */

/* Checks that input i is such a seed: two integers. */
bool eddy__infer_seed(eddy_infer *c, int i);

/* The random stream of these two integers (input i), the same in each run and graph; without that
 * input, eddy__stream_of. */
eddy_stream eddy__stream_for(const eddy_kernel *k, int i, int64_t seed, eddy_distribution d);

/* ------------------------------- one sample per element of the operands -- */

/* The random numbers of one element: successive blocks of words that no other element uses. */
typedef struct eddy_element_stream {
    eddy_stream     stream;
    uint64_t        element, used;   /* blocks */
    const uint32_t *first;           /* block 0, computed with those of the neighbors */
    const double   *normals;         /* of its first two words */
} eddy_element_stream;

/* Two uniforms in [0,1), of 53 bits. */
typedef struct eddy_sample_pair {
    double u, v;
} eddy_sample_pair;
eddy_sample_pair eddy__uniform_pair(eddy_element_stream *d);

/* A normal sample (of 32 bits) and a uniform one. */
eddy_sample_pair eddy__normal_pair(eddy_element_stream *d);

/* The maximum number of attempts per element, after which a rejection method accepts the last
 * sample. */
enum { EDDY_MAX_ATTEMPTS = 65535 };

typedef double eddy_draw_fn(eddy_element_stream *d, const double *parameters, const void *attrs);

/* The operands are `count` tensors of output 0's type, then optionally the seed. */
typedef struct eddy_draw {
    eddy_draw_fn     *fn;
    int               count;
    eddy_distribution distribution;
    bool              normals;       /* fn calls eddy__normal_pair */
} eddy_draw;
void eddy__draw_all(const eddy_kernel *k, const eddy_draw *how, int64_t seed);
bool eddy__infer_draw(eddy_infer *c);
/* Each example has its own samples; with a seed tensor, all examples have the same. */
void eddy__batch_draw(eddy_batch *b);

/* ------------------------------------------------------------- builders -- */

/* Broadcasts the operands of a distribution to one shape, with the leading axes `samples`.
 * Returns false and records an error if that is impossible. */
bool eddy__draw_operands(const char *who, int n, eddy_tensor *x, eddy_dims samples);

/* n operands and, if given, the seed. */
eddy_tensor eddy__draw_apply(const eddy_op_def *op, const void *attrs, int n, const eddy_tensor *x,
                             eddy_tensor seed, const char *name);

/* A source of samples: uniform in [low, 1), or standard normal, with the shape and type of x. */
typedef struct eddy_source {
    int64_t     seed;
    eddy_tensor stateless_seed;
} eddy_source;
/* A source whose samples are independent of the first. */
eddy_source eddy__source_besides(eddy_source from);
eddy_tensor eddy__uniform_source(eddy_source from, eddy_tensor x, double low);
eddy_tensor eddy__normal_source(eddy_source from, eddy_tensor x);

#endif
