/* ranks.c -- training steps of several ranks, processes of MPI, and all_reduce beside MPI's own:
 *
 *   mpirun -n 2 ranks NAME [options]     mlp, lenet, transformer, words
 *   mpirun -n 2 ranks all_reduce
 *   mpirun -n 2 ranks messages      seconds of a message, and of a byte for its receiver
 *
 *   --batch N      examples of a step, which are divided among the ranks
 *   --steps N      measured, after --warm-up N others
 *   --overlap      messages travel while gradients are computed
 *   --apart        ranks exchange nothing: what a step computes
 *   --sharded      each rank updates some of the variables
 *   --bucket N     bytes of a bucket
 *   --report       prints where the time of the measured steps went, too
 *   --threads N    of each rank
 *
 * bench/torch/ddp.py has the same models of the same sizes. Prints the least, the mean and
 * the median of the milliseconds of a step. */
#include "bench/bench.h"
#include "distributed/internal.h"
#include "distributed/mpi/mpi_ranks.h"

#include <eddy/distributed.h>
#include <eddy/ops/short_names.h>

#include <mpi.h>
#include <string.h>

typedef struct options {
    int64_t batch, bucket;           /* 0: that of the model, or the usual one */
    int     steps, warm_up, threads;
    bool    overlap, apart, sharded, report;
} options;

typedef struct model {
    eddy_graph     *graph;
    eddy_tensor     feeds[3], loss;
    eddy_array     *arrays[3];
    int             n;
    eddy_optimizer *optimizer;
} model;

/* -------------------------------------------------------------------- models -- */

static eddy_tensor feed_floats(model *m, eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    bench_need(a, "out of memory");
    bench_uniform(eddy_array_data(a), eddy_array_count(a), (uint64_t)m->n + 1, 0, 1);
    m->arrays[m->n] = a;
    return m->feeds[m->n++] = eddy_placeholder(m->graph, NULL, EDDY_FLOAT32, s);
}

static eddy_tensor feed_numbers(model *m, eddy_shape s, uint64_t below)
{
    eddy_array *a = eddy_array_new(EDDY_INT32, s);
    bench_need(a, "out of memory");
    int32_t *x = eddy_array_data(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        x[i] = (int32_t)(bench_word((uint64_t)m->n + 1, (uint64_t)i) % below);
    m->arrays[m->n] = a;
    return m->feeds[m->n++] = eddy_placeholder(m->graph, NULL, EDDY_INT32, s);
}

static void classify(model *m, eddy_tensor y, eddy_tensor logits)
{
    m->loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits));
    m->optimizer = eddy_adam(m->graph, .learning_rate = eddy_scalar(m->graph, 1e-3));
}

static void build_mlp(model *m, int64_t batch)
{
    eddy_tensor   x = feed_floats(m, EDDY_SHAPE(batch, 784));
    eddy_tensor   y = feed_numbers(m, EDDY_SHAPE(batch), 10);
    classify(m, y, eddy_mlp(x, EDDY_DIMS(512, 512, 10)));
}

static void build_lenet(model *m, int64_t batch)
{
    eddy_tensor   x = feed_floats(m, EDDY_SHAPE(batch, 28, 28, 1));
    eddy_tensor   y = feed_numbers(m, EDDY_SHAPE(batch), 10);
    for (int i = 0; i < 2; i++) {
        x = eddy_conv2d_layer(x, i ? 64 : 32, EDDY_DIMS(5), .padding = "SAME",
                              .activation = eddy_relu);
        x = eddy_max_pool2d(x, EDDY_DIMS(2));
    }
    classify(m, y, eddy_mlp(eddy_flatten(x), EDDY_DIMS(256, 10)));
}

enum { LENGTH = 64, LETTERS = 65, WIDTH = 128, BLOCKS = 4, HEADS = 4 };

static void build_transformer(model *m, int64_t batch)
{
    eddy_tensor   ids = feed_numbers(m, EDDY_SHAPE(batch, LENGTH), LETTERS);
    eddy_tensor   next = feed_numbers(m, EDDY_SHAPE(batch, LENGTH), LETTERS);
    eddy_tensor   x = eddy_embedding_layer(ids, LETTERS, WIDTH);
    x = eddy_position_layer(x, .learned = true);
    for (int i = 0; i < BLOCKS; i++)
        x = eddy_transformer_block(x, HEADS, .causal = true, .pre_norm = true,
                                   .activation = eddy_gelu);
    classify(m, next, eddy_dense(eddy_layer_norm_layer(x), LETTERS));
}

/* Words beside each other are similar, and others are not; the gradient of the table is sparse. */
static void build_words(model *m, int64_t batch)
{
    enum { WORDS = 1000000, SIZE = 64, OTHERS = 5 };
    eddy_tensor   word = feed_numbers(m, EDDY_SHAPE(batch, 1), WORDS);
    eddy_tensor   near = feed_numbers(m, EDDY_SHAPE(batch, 1), WORDS);
    eddy_tensor   far = feed_numbers(m, EDDY_SHAPE(batch, OTHERS), WORDS);
    eddy_tensor   ids = eddy_concat(EDDY_LIST(word, near, far), .axis = 1);
    eddy_tensor   rows = eddy_embedding_layer(ids, WORDS, SIZE);
    eddy_tensor   of = eddy_slice(rows, EDDY_DIMS(0, 0, 0), EDDY_DIMS(-1, 1, -1));
    eddy_tensor   others = eddy_slice(rows, EDDY_DIMS(0, 1, 0), EDDY_DIMS(-1, -1, -1));
    eddy_tensor   scores = eddy_sum(Mul(of, others), .axes = EDDY_AXES(-1));
    const float   signs[1 + OTHERS] = { -1, 1, 1, 1, 1, 1 };
    eddy_tensor   sign = eddy_const(m->graph, EDDY_FLOAT32, EDDY_SHAPE(1 + OTHERS), signs);
    m->loss = eddy_mean(eddy_softplus(Mul(scores, sign)));
    m->optimizer = eddy_gradient_descent(m->graph, eddy_scalar(m->graph, 0.1));
}

static const struct named {
    const char *name;
    int64_t     batch;               /* of all ranks together */
    void      (*build)(model *m, int64_t batch);    /* of one */
} models[] = {
    { "mlp", 256, build_mlp }, { "lenet", 128, build_lenet },
    { "transformer", 16, build_transformer }, { "words", 1024, build_words },
};

/* --------------------------------------------------------------------- steps -- */

static void train(eddy_communicator *c, const struct named *which, options o)
{
    const int     ranks = eddy_communicator_size(c);
    model         m = { .graph = eddy_graph_new(.seed = 1) };
    eddy_feed     feeds[3];
    eddy_error    e = { 0 };
    bench_samples all = { 0 };
    which->build(&m, (o.batch > 0 ? o.batch : which->batch) / ranks);
    if (o.bucket <= 0) o.bucket = o.overlap ? 1 << 18 : 4 << 20;
    if (ranks > 1 && o.sharded) m.optimizer = eddy_sharded(m.optimizer, c);
    else if (ranks > 1 && !o.apart)
        m.optimizer = eddy_distributed(m.optimizer, c, .overlap = o.overlap,
                                       .bucket_bytes = o.bucket, .dense_bytes = 1 << 16);
    eddy_tensor   step = eddy_minimize(m.optimizer, m.loss);
    eddy_session *s = eddy_session_new(m.graph, .threads = o.threads);

    for (int i = 0; i < m.n; i++) feeds[i] = (eddy_feed){ m.feeds[i], m.arrays[i] };
    bench_need(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK &&
                   (ranks == 1 || eddy_broadcast_variables(c, 0, m.graph, s, &e)),
               eddy_session_message(s));
    for (int i = 0; i < o.warm_up + o.steps; i++) {
        eddy_array  *out[2] = { NULL, NULL };
        if (i == o.warm_up && o.report && eddy_rank_barrier(c, NULL))
            eddy_report_ranks(c, stderr, NULL);
        const double from = bench_now();
        bench_need(eddy_run(s, (eddy_feeds){ m.n, feeds }, EDDY_FETCH(m.loss, step), out) ==
                       EDDY_OK,
                   eddy_session_message(s));
        if (i >= o.warm_up) bench_add(&all, 1e3 * (bench_now() - from));
        eddy_array_free(out[0]);
    }
    double sum = 0;
    for (int i = 0; i < all.n; i++) sum += all.at[i];
    qsort(all.at, (size_t)all.n, sizeof *all.at, bench_ascending);
    if (eddy_communicator_rank(c) == 0)
        printf("%.4f %.4f %.4f\n", all.at[0], sum / all.n, all.at[all.n / 2]);
    if (o.report) eddy_report_ranks(c, stdout, NULL);
    for (int i = 0; i < m.n; i++) eddy_array_free(m.arrays[i]);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
}

/* ---------------------------------------------------------------- all_reduce -- */

/* In turns; microseconds of the median call. */
static void all_reduce(eddy_communicator *c, int64_t bytes)
{
    const int     turns = bytes > 1 << 22 ? 20 : 200;
    bench_samples own = { 0 }, bare = { 0 };
    eddy_error    e = { 0 };
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(bytes / 4));
    bench_need(a, "out of memory");
    memset(eddy_array_data(a), 0, (size_t)bytes);
    for (int i = 0; i < turns; i++) {
        double from = bench_now();
        bench_need(eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e), e.message);
        bench_add(&own, 1e6 * (bench_now() - from));
        from = bench_now();
        bench_need(MPI_Allreduce(MPI_IN_PLACE, eddy_array_data(a), (int)(bytes / 4), MPI_FLOAT,
                                 MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
                   "MPI_Allreduce");
        bench_add(&bare, 1e6 * (bench_now() - from));
    }
    qsort(own.at, (size_t)own.n, sizeof *own.at, bench_ascending);
    qsort(bare.at, (size_t)bare.n, sizeof *bare.at, bench_ascending);
    if (eddy_communicator_rank(c) == 0)
        printf("%10lld %12.1f %12.1f %8.2f\n", (long long)bytes, own.at[own.n / 2],
               bare.at[bare.n / 2], own.at[own.n / 2] / bare.at[bare.n / 2]);
    eddy_array_free(a);
}

/* Sends a message with the transport, or receives one. */
static void pass(const eddy_world *w, bool sends, void *data, size_t bytes)
{
    const eddy_transport *t = w->transport;
    eddy_error            e = { 0 };
    bool                  ended = false;
    eddy_message *m = sends ? t->send(w->context, 1 - w->rank, data, bytes, &e)
                            : t->receive(w->context, 1 - w->rank, data, bytes, &e);
    while (m && !ended && t->wait(w->context, m, 1, &ended, &e)) continue;
    bench_need(ended, e.message);
}

/* Half the least time of a message of one byte to the other rank and back, and the least time of a
 * byte of a long one that has come, for its receiver. */
static void messages(const eddy_communicator *c)
{
    enum { LONG = 1 << 18 };
    const int me = eddy_communicator_rank(c);
    char     *data = calloc(LONG, 1);
    double    least[2] = { 1, 1 };
    bench_need(data != NULL, "out of memory");
    for (int i = 0; i < 300 && me < 2; i++) {
        double from = bench_now(), took[2] = { 1, 1 };
        for (int turn = 0; turn < 2; turn++) pass(c->world, turn == me, data, 1);
        took[0] = (bench_now() - from) / 2;
        for (int turn = 0; turn < 2; turn++) {
            pass(c->world, turn == me, data, 1);
            const double come = bench_now() + (turn == me ? 0 : 5e-4);
            while ((from = bench_now()) < come) continue;
            pass(c->world, turn == me, data, LONG);
            if (turn != me) took[1] = (bench_now() - from) / LONG;
        }
        for (int k = 0; k < 2; k++) least[k] = took[k] < least[k] ? took[k] : least[k];
    }
    if (me == 0) printf("%.4g %.4g\n", least[0], least[1]);
    free(data);
}

int main(int argc, char **argv)
{
    options     o = { .steps = 50, .warm_up = 5, .threads = 1 };
    bool        known = false;
    const char *name = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i++) {
        o.overlap = o.overlap || strcmp(argv[i], "--overlap") == 0;
        o.apart = o.apart || strcmp(argv[i], "--apart") == 0;
        o.sharded = o.sharded || strcmp(argv[i], "--sharded") == 0;
        o.report = o.report || strcmp(argv[i], "--report") == 0;
        if (i + 1 == argc) break;
        if (strcmp(argv[i], "--batch") == 0) o.batch = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--bucket") == 0) o.bucket = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--steps") == 0) o.steps = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--warm-up") == 0) o.warm_up = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--threads") == 0) o.threads = atoi(argv[i + 1]);
    }
    eddy_error         e = { 0 };
    eddy_communicator *c = eddy_mpi_join(&e);
    bench_need(c, e.message);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0) {
            train(c, &models[i], o);
            known = true;
        }
    if (strcmp(name, "messages") == 0) {
        messages(c);
        known = true;
    }
    if (strcmp(name, "all_reduce") == 0) {
        if (eddy_communicator_rank(c) == 0) puts("     bytes         Eddy          MPI    ratio");
        for (int64_t bytes = 1024; bytes <= 64 << 20; bytes *= 4) all_reduce(c, bytes);
        known = true;
    }
    eddy_communicator_free(c);
    bench_need(known, "ranks NAME: mlp, lenet, transformer, words, all_reduce or messages");
    return 0;
}
