/* files.c -- every save of the library, with each call of the file system failing in each way; with
 * the power lost at each call; and in processes that are killed.
 *
 *   torture-files faults [NAME] | crashes SEEDS | again SEEDS | kills COUNT
 *
 * The file found afterwards must be one of the saved versions, complete: not older than the last
 * save that succeeded, nor newer than the last that was tried. */
#define _DEFAULT_SOURCE
#include "tests/torture/disk.h"
#include "tests/torture/savers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAVES = 2, BY_CHANCE = 200, TOLD = 40, MOST_SAVES = 200 };

static long tried, wrong;

static void complain(const saver *s, const char *what, const char *how, long at)
{
    if (wrong++ < TOLD) printf("FAULT %s: %s: %s, call %ld\n", s->name, how, what, at);
    fflush(stdout);
}

/* Versions `from` to `to`, until one fails; the last that succeeded, or from - 1. */
static int save_all(const saver *s, void *state, int from, int to, eddy_status *status)
{
    *status = EDDY_OK;
    for (int v = from; v <= to; v++)
        if ((*status = s->save(state, v)) != EDDY_OK) return v - 1;
    return to;
}

/* ------------------------------------------------------------------ faults -- */

typedef struct way {
    const char *name;
    int         number;
} way;

static const way ways[] = {
    { "EIO", EIO }, { "ENOSPC", ENOSPC }, { "EINTR", EINTR }, { "EMFILE", EMFILE },
    { "short", 0 }, { "EACCES", EACCES }, { "EDQUOT", EDQUOT }, { "EROFS", EROFS },
};

/* The first ones; a real disk takes longer. */
static int count_ways(bool is_real) { return is_real ? 5 : (int)(sizeof ways / sizeof *ways); }

/* The number of calls of the saves, or of the load, without a fault. */
static int calls_of(const saver *s, bool is_real, bool loads, int old)
{
    disk        d;
    eddy_status status;
    disk_begin(&d, is_real);
    void *state = s->begin(d.files, d.folder);
    save_all(s, state, 1, loads ? SAVES : old, &status);
    disk_fail(&d, (call_fault){ 0 });
    if (loads) s->load(d.files, d.folder, &status);
    else save_all(s, state, old + 1, old + SAVES, &status);
    const int calls = disk_fail_end(&d);
    s->end(state);
    disk_end(&d);
    return status == EDDY_OK ? calls : -1;
}

static void fail_save(const saver *s, bool is_real, int old, const char *how, call_fault f)
{
    disk        d;
    eddy_status status;
    const bool  once = !f.persistent && f.one_in == 0;
    const int   at = f.one_in > 0 ? (int)f.seed : f.at;
    disk_begin(&d, is_real);
    void *state = s->begin(d.files, d.folder);
    save_all(s, state, 1, old, &status);
    disk_fail(&d, f);
    const int done = save_all(s, state, old + 1, old + SAVES, &status);
    disk_fail_end(&d);
    const int open = disk_open_files(&d),
              found = s->load(d.files, d.folder, &(eddy_status){ EDDY_OK });
    tried++;
    if (status != EDDY_OK && status != EDDY_IO) complain(s, "another status", how, at);
    if (found < done || found > (status == EDDY_OK ? done : done + 1))
        complain(s, "neither the old nor the new file", how, at);
    if (open != 0) complain(s, "a file stays open", how, at);
    if (once && disk_has_temporary(&d)) complain(s, "a temporary file is left", how, at);
    if (f.number == 0 && status != EDDY_OK) complain(s, "short writes are an error", how, at);
    if (s->save(state, old + 3) != EDDY_OK ||
        s->load(d.files, d.folder, &(eddy_status){ EDDY_OK }) != old + 3)
        complain(s, "it cannot be saved again", how, at);
    s->end(state);
    disk_end(&d);
}

static void fail_load(const saver *s, bool is_real, const char *how, call_fault f)
{
    disk        d;
    eddy_status status = EDDY_OK;
    disk_begin(&d, is_real);
    void *state = s->begin(d.files, d.folder);
    s->save(state, 1);
    const int open = disk_open_files(&d);
    disk_fail(&d, f);
    const int found = s->load(d.files, d.folder, &status);
    disk_fail_end(&d);
    tried++;
    if (status != EDDY_OK && status != EDDY_IO) complain(s, "another status", how, f.at);
    if (status == EDDY_OK && found != 1) complain(s, "it loads something else", how, f.at);
    if (disk_open_files(&d) != open) complain(s, "a file stays open", how, f.at);
    s->end(state);
    disk_end(&d);
}

/* Of a real disk, also several calls of a save by chance. */
static void fail_saver(const saver *s, bool is_real)
{
    const long before = tried;
    for (int old = 0; old < 2; old++) {
        const int n = calls_of(s, is_real, false, old);
        if (n <= 0) complain(s, "it fails without faults", "no fault", 0);
        for (int k = 0; k < count_ways(is_real); k++)
            for (int at = 1; at <= 2 * n; at++)
                fail_save(s, is_real, old, ways[k].name,
                          (call_fault){ .at = 1 + (at - 1) / 2, .number = ways[k].number,
                                        .persistent = at % 2 == 0 });
        for (unsigned seed = 0; is_real && seed < BY_CHANCE; seed++)
            fail_save(s, true, old, "EIO, by chance",
                      (call_fault){ .number = EIO, .one_in = 2 + seed % 9, .seed = seed });
    }
    const int n = calls_of(s, is_real, true, 0);
    if (n < 0) complain(s, "it does not load without faults", "no fault", 0);
    for (int k = 0; k < count_ways(is_real); k++)
        for (int at = 1; at <= 2 * n; at++)
            fail_load(s, is_real, ways[k].name,
                      (call_fault){ .at = 1 + (at - 1) / 2, .number = ways[k].number,
                                    .persistent = at % 2 == 0 });
    printf("%-32s %-10s %6ld faults\n", s->name, is_real ? "real" : "in memory", tried - before);
    fflush(stdout);
}

static void faults(const char *name)
{
    for (const saver *s = savers; s->name; s++)
        for (int is_real = 0; is_real < 2 && strstr(s->name, name); is_real++)
            fail_saver(s, is_real == 1);
    for (const saver *s = real_savers; s->name; s++)
        if (strstr(s->name, name)) fail_saver(s, true);
}

/* ----------------------------------------------------------------- crashes -- */

static void crash(const saver *s, int old, int at, unsigned seeds)
{
    memory_files m, after;
    eddy_status  status;
    memory_files_init(&m);
    void *state = s->begin(&m.table, "d");
    save_all(s, state, 1, old, &status);
    m.fault =
        (memory_fault){ .at = m.calls + at, .number = EIO, .persistent = true, .power = true };
    const int done = save_all(s, state, old + 1, old + SAVES, &status);
    for (unsigned seed = 0; seed < seeds; seed++) {
        memory_files_crash(&m, seed, &after);
        const int found = s->load(&after.table, "d", &(eddy_status){ EDDY_OK });
        tried++;
        if (found < done || found > (status == EDDY_OK ? done : done + 1))
            complain(s, "neither the old nor the new file", "power is lost", at);
        memory_files_free(&after);
    }
    s->end(state);
    memory_files_free(&m);
}

/* After a crash: the call `at` of the next load fails, or of the next save, or the power is lost
 * again there. False if there is no such call any more. */
static bool fail_again(const saver *s, const memory_files *image, int found, int next, int at)
{
    bool reached = false;
    for (int how = 0; how < 3; how++) {
        memory_files m, after;
        eddy_status  status = EDDY_OK;
        memory_files_crash(image, 0, &m);       /* a copy: all of it is durable */
        void *state = s->begin(&m.table, "d");
        m.fault = (memory_fault){ .at = m.calls + at, .number = EIO, .persistent = true,
                                  .power = how == 2 };
        const int loaded = how == 0 ? s->load(&m.table, "d", &status) : -1;
        if (how > 0) status = s->save(state, next);
        reached = reached || m.calls >= m.fault.at;
        m.fault = (memory_fault){ 0 };
        memory_files_crash(&m, (unsigned)at, &after);
        const int now = s->load(how == 2 ? &after.table : &m.table, "d", &(eddy_status){ EDDY_OK });
        tried++;
        if (status != EDDY_OK && status != EDDY_IO)
            complain(s, "another status", "after a crash", at);
        if (how == 0 && status == EDDY_OK && loaded != found)
            complain(s, "it loads something else", "after a crash", at);
        if (now != found && !(how > 0 && now == next))
            complain(s, "neither the old nor the new file", "after a crash", at);
        if (how > 0 && status == EDDY_OK && now != next)
            complain(s, "what is saved is lost", "after a crash", at);
        s->end(state);
        memory_files_free(&m);
        memory_files_free(&after);
    }
    return reached;
}

/* Crashes during the save of a second version, and another failure while a new process goes on. */
static void again(unsigned seeds)
{
    for (const saver *s = savers; s->name; s++) {
        const long before = tried;
        for (int at = 1, n = calls_of(s, false, false, 1); at <= n; at++)
            for (unsigned seed = 0; seed < seeds; seed++) {
                memory_files m, image;
                eddy_status  status;
                memory_files_init(&m);
                void *state = s->begin(&m.table, "d");
                save_all(s, state, 1, 1, &status);
                m.fault = (memory_fault){
                    .at = m.calls + at, .number = EIO, .persistent = true, .power = true
                };
                save_all(s, state, 2, 1 + SAVES, &status);
                memory_files_crash(&m, seed, &image);
                const int found = s->load(&image.table, "d", &(eddy_status){ EDDY_OK });
                for (int k = 1; fail_again(s, &image, found, 2 + SAVES, k); k++) continue;
                s->end(state);
                memory_files_free(&m);
                memory_files_free(&image);
            }
        printf("%-32s %6ld failures after crashes\n", s->name, tried - before);
    }
}

static void crashes(unsigned seeds)
{
    for (const saver *s = savers; s->name; s++) {
        const long before = tried;
        for (int old = 0; old < 2; old++)
            for (int at = 1, n = calls_of(s, false, false, old); at <= n + 1; at++)
                crash(s, old, at, seeds);
        printf("%-32s %6ld images\n", s->name, tried - before);
    }
}

/* ------------------------------------------------------------------- kills -- */

typedef struct progress {
    volatile int begun, done;            /* the version that is being saved; the last that was */
} progress;

/* On a busy machine the kill comes late, and tens of thousands of events would not fit in the page
 * that is read. */
static void save_until_killed(const saver *s, const char *folder, progress *p)
{
    void     *state = s->begin(NULL, folder);
    const int first = p->done + 1;
    for (int v = first;; v++) {
        while (v == first + MOST_SAVES) pause();
        p->begun = v;
        if (s->save(state, v) != EDDY_OK) _exit(3);
        p->done = v;
    }
}

/* The whole life of a process; the time before it is killed grows with `random`. */
static void kill_one(const saver *s, const char *folder, progress *p, unsigned random)
{
    int         status = 0;
    eddy_status loaded = EDDY_OK;
    const int   before = p->begun;
    const pid_t child = fork();
    if (child == 0) save_until_killed(s, folder, p);
    for (int i = 0; i < 2000 && p->begun == before; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    nanosleep(&(struct timespec){ .tv_nsec = 1000 * (random % 9000) }, NULL);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    tried++;
    if (!WIFSIGNALED(status)) complain(s, "a save failed", "killed", WEXITSTATUS(status));
    const int found = s->load(NULL, folder, &loaded);
    if (found < p->done || found > p->begun)
        complain(s, "neither the old nor the new file", "killed", p->begun);
    p->done = found;
}

static void kill_saver(const saver *s, long count, progress *p, unsigned *random)
{
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/eddy-torture-%ld", (long)getpid());
    if (mkdir(folder, 0700) != 0) exit(2);
    *p = (progress){ 0, 0 };
    for (long i = 0; i < count; i++) {
        *random = *random * 1664525 + 1013904223;
        kill_one(s, folder, p, *random >> 8);
    }
    printf("%-32s killed during %d saves\n", s->name, p->begun);
    remove_tree(folder);
}

static int count_of(const saver *s)
{
    int n = 0;
    while (s[n].name) n++;
    return n;
}

static void kills(long count)
{
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned  random = 1;
    const int n = count_of(savers), all = n + count_of(real_savers);
    for (int k = 0; k < all && p != MAP_FAILED; k++)
        kill_saver(k < n ? &savers[k] : &real_savers[k - n], (count + all - 1) / all, p, &random);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const long  n = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(what, "faults") == 0) faults(argc > 2 ? argv[2] : "");
    else if (strcmp(what, "crashes") == 0) crashes((unsigned)(n > 0 ? n : 20));
    else if (strcmp(what, "again") == 0) again((unsigned)(n > 0 ? n : 3));
    else if (strcmp(what, "kills") == 0) kills(n > 0 ? n : 500);
    else return 2;
    printf("figure: %ld %s, %ld wrong\n", tried,
           strcmp(what, "again") == 0 ? "failures after crashes" : what, wrong);
    return wrong > 0 || tried == 0;
}
