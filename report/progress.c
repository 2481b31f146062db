/* progress.c -- the progress of a loop, in the terminal or as lines.
 *
 * A call of eddy_progress_add that draws nothing is one addition and one comparison of the clock.
 * The text is written at once, in one call of fwrite under the lock, so lines and bars do not
 * mix. */
#include "report/progress.h"
#include "graph/base/stop.h"
#include "graph/call_options.h"
#include "report/letters.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { METRICS = 8, NAME = 32, LINE = 1024, MOST_COLUMNS = 500, FEWEST_COLUMNS = 20, BAR = 30 };

static const int64_t SECOND = 1000000000;

typedef struct metric {
    char   name[NAME];
    double value;
} metric;

struct eddy_progress {
    pthread_mutex_t  lock;          /* protects drawing and metrics */
    FILE            *to;
    char             label[64], unit[NAME];
    int64_t          total, before, begun;  /* begun: nanoseconds */
    int64_t          between;       /* nanoseconds from one drawing to the next */
    _Atomic int64_t  done, next;    /* next: when it is drawn again */
    bool             terminal, drawn;
    metric           metrics[METRICS];
    int              n_metrics;
};

/* Whether the byte begins a letter of UTF-8. */
static bool begins(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

/* Drops the first bytes of a letter whose others did not fit. */
static void drop_part(char *text)
{
    const size_t n = strlen(text);
    size_t       at = n;
    while (at > 0 && !begins(text[at - 1])) at--;
    if (at == 0) return;
    const unsigned char c = (unsigned char)text[--at];
    if (at + (c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4) > n) text[at] = 0;
}

/* Text that the caller gave, as it may stand in a line. */
static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
    if (strlen(to) == size - 1) drop_part(to);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
}

/* At most a century, so that the time of the next line can be computed. */
static int64_t nanoseconds(double seconds)
{
    const double most = 100 * 366 * 86400.0;
    return seconds > 0 ? (int64_t)((seconds < most ? seconds : most) * (double)SECOND) : 0;
}

eddy_progress *eddy_progress_new_with(const eddy_progress_args *given)
{
    const eddy_progress_args a = EDDY_TAKE(eddy_progress_args, given);
    eddy_progress           *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    if (pthread_mutex_init(&p->lock, NULL) != 0) {
        free(p);
        return NULL;
    }
    p->to = a.to ? a.to : stderr;
    p->total = a.total > 0 ? a.total : 0;
    p->before = a.done > 0 ? a.done : 0;
    copy_text(p->label, sizeof p->label, a.label);
    copy_text(p->unit, sizeof p->unit, a.unit);
    atomic_init(&p->done, p->before);
    p->begun = eddy__monotonic_nanoseconds();
    p->terminal = isatty(fileno(p->to)) == 1;
    p->between = p->terminal ? SECOND / 10 : nanoseconds(a.interval);
    atomic_init(&p->next, p->begun + (p->terminal ? 0 : p->between));
    return p;
}

/* --------------------------------------------------------------- numbers -- */

int64_t eddy_progress_done(const eddy_progress *p)
{
    return p ? atomic_load(&p->done) : 0;
}

static double seconds_of(const eddy_progress *p)
{
    return (double)(eddy__monotonic_nanoseconds() - p->begun) * 1e-9;
}

static double rate_of(const eddy_progress *p)
{
    const double seconds = seconds_of(p), done = (double)(atomic_load(&p->done) - p->before);
    return done > 0 && seconds > 0 ? done / seconds : (double)NAN;
}

static double remaining_of(const eddy_progress *p)
{
    const int64_t left = p->total - atomic_load(&p->done);
    return p->total == 0 ? (double)NAN : left <= 0 ? 0 : (double)left / rate_of(p);
}

double eddy_progress_rate(const eddy_progress *p)
{
    return p ? rate_of(p) : (double)NAN;
}

double eddy_progress_remaining(const eddy_progress *p)
{
    return p ? remaining_of(p) : (double)NAN;
}

/* --------------------------------------------------------------- drawing -- */

typedef struct text {
    char at[LINE];
    int  used;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->at + t->used, (size_t)(LINE - t->used), format, args);
    va_end(args);
    if (n > 0) t->used = t->used + n < LINE ? t->used + n : LINE - 1;
}

static int width_of(const text *t)
{
    int n = 0;
    for (int i = 0; i < t->used; i++) n += eddy__letter_columns(t->at + i);
    return n;
}

static void cut(text *t, int columns)
{
    int i = 0;
    for (int n = 0; i < t->used; i++)
        if ((n += eddy__letter_columns(t->at + i)) > columns) break;
    t->at[t->used = i] = 0;
}

/* "02:05", "1:00:00"; "--:--" if it is not known or longer than ten days. */
static void put_time(text *t, double seconds)
{
    const double most = 864000;
    if (!(seconds < most)) {
        put(t, "--:--");
        return;
    }
    const int s = (int)(seconds + 0.5);
    if (s >= 3600) put(t, "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
    else put(t, "%02d:%02d", s / 60, s % 60);
}

/* " 420/1000 [00:12 < 00:16, 35.1/s] loss 0.3141" */
static void put_numbers(const eddy_progress *p, text *t)
{
    const double rate = rate_of(p);
    put(t, " %lld", (long long)atomic_load(&p->done));
    if (p->total > 0) put(t, "/%lld", (long long)p->total);
    put(t, " [");
    put_time(t, seconds_of(p));
    if (p->total > 0) {
        put(t, " < ");
        put_time(t, remaining_of(p));
    }
    if (isnan(rate)) put(t, "]");
    else if (rate < 1 && rate > 0) put(t, ", %.3g s%s%s]", 1 / rate, *p->unit ? "/" : "", p->unit);
    else put(t, ", %.3g%s%s/s]", rate, *p->unit ? " " : "", p->unit);
    for (int i = 0; i < p->n_metrics; i++)
        put(t, "%s %s %.4g", i > 0 ? "," : "", p->metrics[i].name, p->metrics[i].value);
}

/* The columns of the terminal as it is now. */
static int columns_of(const eddy_progress *p)
{
    struct winsize size = { 0 };
    if (ioctl(fileno(p->to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col > MOST_COLUMNS ? MOST_COLUMNS : size.ws_col;
}

static void put_bar(const eddy_progress *p, text *t, int width)
{
    const int64_t done = atomic_load(&p->done);
    const double  share = done >= p->total ? 1 : (double)done / (double)p->total;
    const int     full = (int)(share * width);
    put(t, " %3d%% |", (int)(share * 100));
    for (int i = 0; i < width; i++) put(t, i < full ? "#" : " ");
    put(t, "|");
}

/* The text of a line. On a terminal the bar takes the rest of the width, up to a limit, and a
 * line that is too long is cut. */
static void put_line(const eddy_progress *p, text *t)
{
    text numbers = { .used = 0 };
    put_numbers(p, &numbers);
    put(t, "%s", p->label);
    if (p->total > 0 && p->terminal) {
        const int columns = columns_of(p), left = columns - width_of(t) - width_of(&numbers) - 9;
        if (left >= 4) put_bar(p, t, left < BAR ? left : BAR);
        put(t, "%s", numbers.at);
        cut(t, columns > FEWEST_COLUMNS ? columns - 1 : FEWEST_COLUMNS);
        return;
    }
    if (p->total > 0)
        put(t, " %3d%%", (int)(100 * (double)atomic_load(&p->done) / (double)p->total));
    put(t, "%s", *p->label || p->total > 0 ? numbers.at : numbers.at + 1);
    if (p->terminal) cut(t, columns_of(p) - 1);
}

static const char ERASE[] = "\r\033[K";

/* With the lock held. Draws the state, after a line of text if that is not NULL. */
static void draw(eddy_progress *p, const char *line, bool bar)
{
    text t = { .used = 0 };
    text all = { .used = 0 };
    if (bar) put_line(p, &t);
    if (p->terminal && (p->drawn || bar)) put(&all, ERASE);
    if (line) put(&all, "%s\n", line);
    if (bar) put(&all, p->terminal ? "%s" : "%s\n", t.at);
    fwrite(all.at, 1, (size_t)all.used, p->to);
    fflush(p->to);
    p->drawn = p->terminal && bar;
}

void eddy_progress_add(eddy_progress *p, int64_t n)
{
    if (!p) return;
    atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
    const int64_t now = eddy__monotonic_nanoseconds();
    if (now < atomic_load_explicit(&p->next, memory_order_relaxed)) return;
    pthread_mutex_lock(&p->lock);
    if (now >= atomic_load(&p->next)) {
        draw(p, NULL, true);
        atomic_store(&p->next, now + p->between);
    }
    pthread_mutex_unlock(&p->lock);
}

void eddy_progress_metric(eddy_progress *p, const char *name, double value)
{
    char known[NAME];
    if (!p || !name) return;
    copy_text(known, sizeof known, name);
    pthread_mutex_lock(&p->lock);
    int i = 0;
    while (i < p->n_metrics && strcmp(p->metrics[i].name, known) != 0) i++;
    if (i < METRICS) {
        memcpy(p->metrics[i].name, known, sizeof known);
        p->metrics[i].value = value;
        if (i == p->n_metrics) p->n_metrics++;
    }
    pthread_mutex_unlock(&p->lock);
}

void eddy_progress_log(eddy_progress *p, const char *format, ...)
{
    char    line[LINE / 2];
    va_list args;
    if (!p || !format) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    char clean[sizeof line];
    copy_text(clean, sizeof clean, line);
    pthread_mutex_lock(&p->lock);
    draw(p, clean, p->drawn);
    pthread_mutex_unlock(&p->lock);
}

void eddy_progress_free(eddy_progress *p)
{
    if (!p) return;
    if (p->drawn || atomic_load(&p->done) > p->before) {
        draw(p, NULL, true);
        if (p->terminal) {
            fputc('\n', p->to);
            fflush(p->to);
        }
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}
