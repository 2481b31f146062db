/* fftw.c -- FFTW 3 (fast Fourier transforms): loading the library at run time, and a cache of its
 * plans.
 *
 * Plans are made by estimate, so that nothing is measured and a transform has the same bits in
 * each run, for arrays of the same address modulo 16; results for arrays with other addresses may
 * differ in the last bits. Creating and destroying plans is not safe in two threads at once;
 * running them is. The most recently used plans are kept for the whole process. */
#include "ops/kernels/libraries/fftw.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- the library -- */

/* The part of FFTW's documented interface that is used; complex numbers are pairs of float or
 * double. */
enum { FFTW_FORWARD = -1, FFTW_BACKWARD = 1, FFTW_ESTIMATE = 1 << 6 };

typedef void *plan_many(int rank, const int *n, int many, void *in, const int *in_embed,
                        int in_stride, int in_dist, void *out, const int *out_embed,
                        int out_stride, int out_dist, unsigned flags);
typedef void *plan_many_complex(int rank, const int *n, int many, void *in, const int *in_embed,
                                int in_stride, int in_dist, void *out, const int *out_embed,
                                int out_stride, int out_dist, int sign, unsigned flags);
typedef void execute(void *plan, void *in, void *out);

typedef struct library {
    plan_many_complex *plan_dft;
    plan_many         *plan_r2c, *plan_c2r;
    execute           *run_dft, *run_r2c, *run_c2r;
    void             (*destroy)(void *plan);
    int              (*alignment)(void *p);
    bool               loaded;
} library;

static library         libraries[2];         /* of float, of double */
static pthread_once_t  once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* of plans and of FFTW's planner */

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void)  { pthread_mutex_unlock(&lock); }

static void *open_library(const char *stem)
{
    static const char *const patterns[] = { "%s%s%s.so.3", "%s%s%s.3.dylib", "%s%s%s.so" };
    const char *folder = getenv("EDDY_FFTW");
    char        path[4096];
    if (!folder) folder = "";
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const int n = snprintf(path, sizeof path, patterns[i], folder, *folder ? "/" : "", stem);
        void *handle = n < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (handle) return handle;
    }
    return NULL;
}

/* *function = the function of that name in the library; ISO C has no cast from an object pointer to
 * a function pointer. */
static bool find(void *handle, const char *prefix, const char *name, void *function)
{
    char full[64];
    snprintf(full, sizeof full, "%s_%s", prefix, name);
    void *const found = dlsym(handle, full);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void load_one(library *l, const char *stem, const char *prefix)
{
    void *h = open_library(stem);
    l->loaded = h && find(h, prefix, "plan_many_dft", &l->plan_dft) &&
                find(h, prefix, "plan_many_dft_r2c", &l->plan_r2c) &&
                find(h, prefix, "plan_many_dft_c2r", &l->plan_c2r) &&
                find(h, prefix, "execute_dft", &l->run_dft) &&
                find(h, prefix, "execute_dft_r2c", &l->run_r2c) &&
                find(h, prefix, "execute_dft_c2r", &l->run_c2r) &&
                find(h, prefix, "destroy_plan", &l->destroy) &&
                find(h, prefix, "alignment_of", &l->alignment);
}

static void load(void)
{
    load_one(&libraries[0], "libfftw3f", "fftwf");
    load_one(&libraries[1], "libfftw3", "fftw");
    pthread_atfork(before_fork, after_fork, after_fork);
}

static const library *library_of(bool single)
{
    pthread_once(&once, load);
    return &libraries[single ? 0 : 1];
}

const char *eddy__fft_missing(bool single)
{
    if (library_of(single)->loaded) return NULL;
    return single ? "Fourier transforms of float32 need FFTW 3 (libfftw3f.so.3; Debian's package "
                    "libfftw3-single3), which is not found; EDDY_FFTW can name its folder"
                  : "Fourier transforms of float64 need FFTW 3 (libfftw3.so.3; Debian's package "
                    "libfftw3-double3), which is not found; EDDY_FFTW can name its folder";
}

/* --------------------------------------------------------------- its plans -- */

/* A plan is valid for arrays of one alignment. */
typedef struct plan_key {
    eddy_fft_job fft;
    int      in_alignment, out_alignment;
} plan_key;

typedef struct kept_plan {
    plan_key key;
    void    *plan;          /* NULL: a free slot */
    uint64_t used;          /* the higher, the later it was used */
    int      users;         /* runs in progress */
} kept_plan;

enum { KEPT = 128 };
static kept_plan kept[KEPT];
static uint64_t  uses;

static bool same_key(const plan_key *a, const plan_key *b)
{
    return a->fft.kind == b->fft.kind && a->fft.single == b->fft.single &&
           a->fft.rank == b->fft.rank && a->fft.many == b->fft.many &&
           memcmp(a->fft.n, b->fft.n, sizeof a->fft.n) == 0 &&
           a->in_alignment == b->in_alignment && a->out_alignment == b->out_alignment;
}

static void *new_plan(const library *l, const eddy_fft_job *f, void *x, void *y)
{
    int all = 1;
    for (int i = 0; i < f->rank; i++) all *= f->n[i];
    const int last = f->n[f->rank - 1], half = all / last * (last / 2 + 1);
    if (f->kind == EDDY_FFT_OF_REAL)
        return l->plan_r2c(f->rank, f->n, f->many, x, NULL, 1, all, y, NULL, 1, half,
                           FFTW_ESTIMATE);
    if (f->kind == EDDY_FFT_TO_REAL)
        return l->plan_c2r(f->rank, f->n, f->many, x, NULL, 1, half, y, NULL, 1, all,
                           FFTW_ESTIMATE);
    return l->plan_dft(f->rank, f->n, f->many, x, NULL, 1, all, y, NULL, 1, all,
                       f->kind == EDDY_FFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
}

/* The slot of the plan with this key; otherwise the least recently used slot that is not in use;
 * otherwise NULL. */
static kept_plan *place_for(const plan_key *key)
{
    kept_plan *oldest = NULL;
    for (int i = 0; i < KEPT; i++) {
        kept_plan *p = &kept[i];
        if (p->plan && same_key(&p->key, key)) return p;
        if (p->users == 0 && (!oldest || p->used < oldest->used)) oldest = p;
    }
    return oldest;
}

/* Returns a plan, and its slot in *place; NULL there if all slots are in use: then the plan belongs
 * to the caller. */
static void *take_plan(const library *l, const plan_key *key, void *x, void *y, kept_plan **place)
{
    pthread_mutex_lock(&lock);
    kept_plan *p = place_for(key);
    void      *plan = p && p->plan && same_key(&p->key, key) ? p->plan : NULL;
    if (!plan) {
        plan = new_plan(l, &key->fft, x, y);
        if (p && plan) {
            if (p->plan) (p->key.fft.single ? &libraries[0] : &libraries[1])->destroy(p->plan);
            p->key = *key;
            p->plan = plan;
        }
    }
    if (p && plan) {
        p->used = ++uses;
        p->users++;
    }
    pthread_mutex_unlock(&lock);
    *place = p;
    return plan;
}

static void give_back(const library *l, void *plan, kept_plan *place)
{
    pthread_mutex_lock(&lock);
    if (place) place->users--;
    else l->destroy(plan);
    pthread_mutex_unlock(&lock);
}

bool eddy__fft_run(const eddy_fft_job *f, void *x, void *y)
{
    const library *l = library_of(f->single);
    if (!l->loaded) return false;
    const plan_key key = { *f, l->alignment(x), l->alignment(y) };
    kept_plan     *place;
    void          *plan = take_plan(l, &key, x, y, &place);
    if (!plan) return false;
    if (f->kind == EDDY_FFT_OF_REAL) l->run_r2c(plan, x, y);
    else if (f->kind == EDDY_FFT_TO_REAL) l->run_c2r(plan, x, y);
    else l->run_dft(plan, x, y);
    give_back(l, plan, place);
    return true;
}
