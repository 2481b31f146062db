/* test_progress.c -- progress in a file and in a terminal. */
#define _GNU_SOURCE
#include "graph/base/text.h"
#include "report/letters.h"
#include "tests/lib/checks.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>
#include <wchar.h>

Suite *progress_suite(void);

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Not a terminal: one line at the end, without control characters. */
START_TEST(plain_lines)
{
    char   *text = calloc(1, 1000);
    FILE   *to = tmpfile();
    eddy_progress *p = eddy_progress_new(.total = 200, .label = "training\n", .unit = "steps",
                                         .to = to);
    ck_assert_int_eq(eddy_progress_done(p), 0);
    ck_assert(isnan(eddy_progress_rate(p)) && isnan(eddy_progress_remaining(p)));
    eddy_progress_metric(p, "loss", 9);
    for (int i = 0; i < 100; i++) eddy_progress_add(p, 1);
    eddy_progress_metric(p, "loss", 0.25);
    eddy_progress_metric(p, "accuracy", 0.5);
    eddy_progress_log(p, "a line of %d\twords", 4);
    sleep_ms(20);
    ck_assert_int_eq(eddy_progress_done(p), 100);
    ck_assert(eddy_progress_rate(p) > 0 && eddy_progress_remaining(p) > 0);
    eddy_progress_free(p);
    fseek(to, 0, SEEK_SET);
    ck_assert_int_gt((int)fread(text, 1, 999, to), 0);
    ck_assert_msg(strncmp(text, "a line of 4 words\ntraining   50% 100/200 [00:00 < 00:00, ", 56) ==
                      0,
                  "%s", text);
    ck_assert_ptr_nonnull(strstr(text, " steps/s] loss 0.25, accuracy 0.5\n"));
    ck_assert_ptr_null(strchr(text, '\r'));
    ck_assert_ptr_null(strchr(text, '\033'));
    free(text);
    fclose(to);
}
END_TEST

/* The lines that a loop of so many steps writes to a file, a millisecond each. */
static int lines_of(double interval, int steps)
{
    int            n = 0;
    FILE          *to = tmpfile();
    eddy_progress *p = eddy_progress_new(.total = steps, .to = to, .interval = interval);
    for (int i = 0; i < steps; i++) {
        sleep_ms(1);
        eddy_progress_add(p, 1);
    }
    eddy_progress_free(p);
    rewind(to);
    for (int c; (c = fgetc(to)) != EOF;) n += c == '\n';
    fclose(to);
    return n;
}

START_TEST(intervals)
{
    ck_assert_int_eq(lines_of(1e300, 5), 1);
    ck_assert_int_eq(lines_of(0, 5), 6);
    ck_assert_int_eq(lines_of(-1, 5), 6);
    ck_assert_int_eq(lines_of((double)NAN, 5), 6);
    const int some = lines_of(0.02, 100);       /* at least 0.1 s */
    ck_assert_msg(some >= 3 && some < 100, "%d", some);
}
END_TEST

/* A loop of unknown length; a resumed one; none. */
START_TEST(other_loops)
{
    char  text[1000] = { 0 };
    FILE *to = tmpfile();
    eddy_progress *p = eddy_progress_new(.to = to);
    eddy_progress_add(p, 3);
    ck_assert(isnan(eddy_progress_remaining(p)));
    eddy_progress_free(p);
    p = eddy_progress_new(.to = to, .total = 10, .done = 8, .label = "more");
    eddy_progress_add(p, 2);
    ck_assert_double_eq(eddy_progress_remaining(p), 0);
    eddy_progress_free(p);
    eddy_progress_free(eddy_progress_new(.to = to, .total = -4, .done = -1, .label = "nothing"));
    fseek(to, 0, SEEK_SET);
    ck_assert_int_gt((int)fread(text, 1, 999, to), 0);
    ck_assert_msg(strncmp(text, "3 [00:00, ", 10) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\nmore 100% 10/10 [00:00 < 00:00, "));
    ck_assert_ptr_null(strstr(text, "nothing"));
    fclose(to);
    eddy_progress_add(NULL, 1);
    eddy_progress_metric(NULL, "x", 1);
    eddy_progress_log(NULL, "x");
    eddy_progress_free(NULL);
}
END_TEST

/* ----------------------------------------------------------- a terminal -- */

typedef struct terminal {
    int  master, slave;
    char text[1 << 18];
    int  used;
} terminal;

static bool open_terminal(terminal *t, int columns)
{
    *t = (terminal){ .master = posix_openpt(O_RDWR | O_NOCTTY) };
    if (t->master < 0 || grantpt(t->master) != 0 || unlockpt(t->master) != 0) return false;
    t->slave = open(ptsname(t->master), O_RDWR | O_NOCTTY);
    struct termios raw;
    tcgetattr(t->slave, &raw);
    raw.c_oflag = 0;
    tcsetattr(t->slave, TCSANOW, &raw);
    fcntl(t->master, F_SETFL, O_NONBLOCK);
    return t->slave >= 0 &&
           ioctl(t->slave, TIOCSWINSZ, &(struct winsize){ .ws_col = (unsigned short)columns }) == 0;
}

static void drain(terminal *t)
{
    ssize_t n;
    while ((n = read(t->master, t->text + t->used, sizeof t->text - 1 - (size_t)t->used)) > 0)
        t->used += (int)n;
    t->text[t->used] = 0;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

/* No line is wider than the terminal, in columns as the C library counts them. */
static void fits_in(const char *text, int columns)
{
    int       at = 0, n;
    wchar_t   letter;
    mbstate_t state = { 0 };
    for (const char *c = text; *c; c += n) {
        n = 1;
        if (*c == '\r' || *c == '\n') at = 0;
        else if (strncmp(c, "\033[K", 3) == 0) n = 3;
        else {
            n = (int)mbrtowc(&letter, c, 4, &state);
            ck_assert_int_gt(n, 0);
            at += wcwidth(letter);
        }
        ck_assert_int_lt(at, columns);
    }
}

/* Redrawn at most ten times a second, in the width that the terminal has then; lines of text are
 * whole. */
START_TEST(bars)
{
    terminal t;
    if (!open_terminal(&t, 100)) return;
    FILE          *to = fdopen(t.slave, "w");
    eddy_progress *p = eddy_progress_new(.total = 100000, .label = "bar", .to = to);
    eddy_progress_metric(p, "loss", 0.5);
    for (int i = 0; i < 50; i++) {
        eddy_progress_add(p, 1000);
        sleep_ms(8);
    }
    drain(&t);
    const int drawn = count(t.text, "\r\033[K");
    ck_assert_int_ge(drawn, 2);
    ck_assert_int_le(drawn, 8);
    fits_in(t.text, 100);
    ck_assert_ptr_nonnull(strstr(t.text, "#####"));
    ck_assert_ptr_nonnull(strstr(t.text, "/s] loss 0.5"));
    t.used = 0;
    ioctl(t.master, TIOCSWINSZ, &(struct winsize){ .ws_col = 40 });
    eddy_progress_log(p, "a line");
    drain(&t);
    ck_assert_msg(strncmp(t.text, "\r\033[Ka line\nbar ", 15) == 0, "%s", t.text);
    fits_in(t.text, 40);
    eddy_progress_free(p);
    drain(&t);
    ck_assert_int_eq(t.text[t.used - 1], '\n');
    fclose(to);
    close(t.master);
}
END_TEST

/* A line is cut behind a letter, and the bar takes all that is left of the columns: letters of one
 * column and of two, and one with a mark. */
START_TEST(letters)
{
    static const char *const labels[] = { "\u00fc\u00f6\u00e4\u00e9", "\u8bad\u7ec3\uff01",
                                          "\ud559\uc2b5 \U0001f680", "e\u0301tape" };
    terminal t;
    for (int columns = 21; columns < 110; columns++) {
        if (!open_terminal(&t, columns)) return;
        FILE          *to = fdopen(t.slave, "w");
        eddy_progress *p = eddy_progress_new(.total = 9, .label = labels[_i], .to = to);
        eddy_progress_metric(p, "\u03b1\u03b2\u03b3\u03b4\u03b5", 0.5);
        eddy_progress_add(p, 4);
        eddy_progress_free(p);
        drain(&t);
        ck_assert_int_gt(t.used, 10);
        fits_in(t.text, columns);
        ck_assert_uint_eq(eddy__utf8_check(t.text, (size_t)t.used), (size_t)t.used);
        fclose(to);
        close(t.master);
    }
}
END_TEST

/* The columns of letters are those of the C library. */
START_TEST(widths)
{
    static const struct { wchar_t first, last; } all[] = {
        { 0x20, 0x7e }, { 0xa1, 0x2ff }, { 0x300, 0x36f }, { 0x370, 0x377 }, { 0x400, 0x482 },
        { 0x2500, 0x25fc }, { 0x2800, 0x28ff }, { 0x3041, 0x3096 }, { 0x30a0, 0x30ff },
        { 0x4e00, 0x9fff }, { 0xac00, 0xd7a3 }, { 0xff01, 0xff60 }, { 0x2705, 0x2705 },
        { 0x1f400, 0x1f43e }, { 0x1f4c8, 0x1f4c8 }, { 0x1f600, 0x1f64f }, { 0x20000, 0x2a6df },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (wchar_t c = all[i].first; c <= all[i].last; c++) {
            char      text[8] = "";
            mbstate_t state = { 0 };
            int       sum = 0;
            ck_assert_uint_le(wcrtomb(text, c, &state), 4);
            for (int k = 0; text[k]; k++) sum += eddy__letter_columns(text + k);
            const int want = wcwidth(c);            /* -1: unknown to the library */
            if (c != 0xad && want >= 0)             /* a hyphen that few terminals draw */
                ck_assert_msg(sum == want, "%#x: %d", (unsigned)c, sum);
        }
    ck_assert_int_eq(eddy__letter_columns("\xe4\xb8"), 1);
}
END_TEST

/* So are labels, units, names of metrics and lines of text that are too long. */
START_TEST(many_letters)
{
    static const char *const of[] = { "\u00fc", "\u4e00", "\U0001f600" };
    char                     many[1001], text[4000];
    for (int i = 0; i < 12; i++) {
        many[0] = 0;
        for (size_t n = strlen(of[i % 3]); strlen(many) + n < sizeof many;) strcat(many, of[i % 3]);
        FILE          *to = tmpfile();
        eddy_progress *p = eddy_progress_new(.label = many, .unit = many, .to = to);
        eddy_progress_metric(p, many, 1);
        eddy_progress_add(p, 1);
        eddy_progress_log(p, "%.*s%s", i / 3, "aaa", many);
        eddy_progress_free(p);
        fseek(to, 0, SEEK_SET);
        const size_t n = fread(text, 1, sizeof text, to);
        ck_assert_uint_gt(n, 500);
        ck_assert_uint_eq(eddy__utf8_check(text, n), n);
        fclose(to);
    }
}
END_TEST

typedef struct workers {
    eddy_progress *progress;
    atomic_int     running;
} workers;

enum { THREADS = 4, STEPS = 20000 };

static void *work(void *at)
{
    workers *w = at;
    for (int i = 0; i < STEPS; i++) {
        eddy_progress_add(w->progress, 1);
        if (i % 1000 == 0) eddy_progress_log(w->progress, "line %d", i);
        if (i % 100 == 0) eddy_progress_metric(w->progress, "x", i);
    }
    w->running--;
    return NULL;
}

/* Four threads; `screen`, if there is one, is read as they write. */
static void run_workers(FILE *to, terminal *screen)
{
    pthread_t at[THREADS];
    workers   w = { .progress = eddy_progress_new(.total = THREADS * STEPS, .label = "all",
                                                  .to = to),
                    .running = THREADS };
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&at[i], NULL, work, &w), 0);
    for (; screen && w.running > 0; sleep_ms(1)) drain(screen);
    for (int i = 0; i < THREADS; i++) pthread_join(at[i], NULL);
    ck_assert_int_eq(eddy_progress_done(w.progress), THREADS * STEPS);
    eddy_progress_free(w.progress);
    if (screen) drain(screen);
}

/* Whether the text is a whole line of a thread, "line 3000". */
static bool is_line(const char *text)
{
    int number, end = 0;
    return sscanf(text, "line %d%n", &number, &end) == 1 && text[end] == 0;
}

/* Every step counts, and every line is whole. */
START_TEST(threads)
{
    FILE *to = tmpfile();
    char  line[1000];
    int   lines = 0;
    run_workers(to, NULL);
    rewind(to);
    while (fgets(line, sizeof line, to)) {
        line[strcspn(line, "\n")] = 0;
        if (is_line(line)) lines++;
        else ck_assert_ptr_eq(strstr(line, "all 100% 80000/80000 ["), line);
    }
    ck_assert_int_eq(lines, THREADS * STEPS / 1000);
    fclose(to);
}
END_TEST

/* Ends the text at the next end of a line or beginning of a drawing; what follows. */
static char *piece(char *at)
{
    char *end = at + strcspn(at, "\r\n");
    if (*end == 0) return end;
    const int n = *end == '\n' ? 1 : 4;
    if (n == 4) ck_assert_int_eq(strncmp(end, "\r\033[K", 4), 0);
    *end = 0;
    return end + n;
}

/* Whether the text is a whole bar, with its metric if that is known. */
static bool is_bar(const char *text)
{
    double      x;
    int         end = 0;
    const char *numbers = strstr(text, "/80000 ["), *metric = numbers ? strchr(numbers, ']') : NULL;
    if (strncmp(text, "all ", 4) != 0 || !metric) return false;
    return metric[1] == 0 || (sscanf(metric, "] x %lf%n", &x, &end) == 1 && metric[end] == 0);
}

/* On a terminal, too, where bars are drawn between the lines. */
START_TEST(threads_on_a_terminal)
{
    static terminal t;
    int             lines = 0, drawn = 0;
    if (!open_terminal(&t, 100)) return;
    FILE *to = fdopen(t.slave, "w");
    run_workers(to, &t);
    fits_in(t.text, 100);
    for (char *at = t.text, *next; *at; at = next) {
        next = piece(at);
        if (is_line(at)) lines++;
        else if (is_bar(at)) drawn++;
        else ck_assert_str_eq(at, "");
    }
    ck_assert_int_eq(lines, THREADS * STEPS / 1000);
    ck_assert_int_ge(drawn, 2);
    fclose(to);
    close(t.master);
}
END_TEST

static void use_utf8(void)
{
    ck_assert(setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "en_US.UTF-8"));
}
static void use_ascii(void) { setlocale(LC_CTYPE, "C"); }

Suite *progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *t = tcase_create("progress");
    tcase_add_checked_fixture(t, use_utf8, use_ascii);
    tcase_add_test(t, plain_lines);
    tcase_add_test(t, intervals);
    tcase_add_test(t, other_loops);
    tcase_add_test(t, bars);
    tcase_add_loop_test(t, letters, 0, 4);
    tcase_add_test(t, widths);
    tcase_add_test(t, many_letters);
    suite_add_tcase(suite, t);
    t = tcase_create("threads");
    tcase_add_checked_fixture(t, use_utf8, use_ascii);
    tcase_set_tags(t, "threads");
    tcase_add_test(t, threads);
    tcase_add_test(t, threads_on_a_terminal);
    suite_add_tcase(suite, t);
    return suite;
}
