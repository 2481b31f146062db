/* main.c -- how long a run goes on after it was stopped.
 *
 *   cancel [TIMES] [THREADS] [NAME]
 *
 * Each kind of run (or those whose names contain NAME) is cancelled by another thread, TIMES times
 * at moments spread over its length. Some kinds are also stopped by their deadline, by a signal
 * handler, and by closing the session, a third as often. Prints the time from the call, or the
 * deadline, to the end of the run, and the processor time of the thread that runs in between, which
 * does not count waits for a core; with several threads, that of the process, if it is less. Where
 * more than one stop in a hundred is late, a kind is stopped four times as often. */
#include "bench/cancel/cancel.h"

#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { MOST = 10000 };

/* Large pages are off: the first touch of a page of 2 MiB that the hypervisor has yet to provide
 * blocks the thread for up to 30 ms, that of one of 4 KiB for microseconds. */
static void use_small_pages(void)
{
#ifdef PR_SET_THP_DISABLE
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#endif
}

int main(int argc, char **argv)
{
    const work *const all[] = { linear_works, image_works, array_works, training_works };
    const int         asked = argc > 1 ? atoi(argv[1]) : 100;
    const int         threads = argc > 2 ? atoi(argv[2]) : 1;
    const int         times = asked < 1 ? 1 : asked > MOST ? MOST : asked;
    const char       *name = argc > 3 ? argv[3] : "";
    bool              ok = true;
    use_small_pages();
    printf("milliseconds                    time: median, 99 %%, most   processor: median, 99 %%, "
           "most\n");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (const work *w = all[k]; w->name; w++)
            for (way by = 0; by < (w->every_way ? WAYS : 1) && strstr(w->name, name); by++)
                ok = measure(w, by, by == BY_THREAD ? times : (times + 2) / 3, threads) && ok;
    return !ok;
}
