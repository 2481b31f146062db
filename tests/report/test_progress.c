/* test_progress.c -- progress in a file and in a terminal. */
#define _GNU_SOURCE
#include "graph/base/text.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

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
    char text[1 << 16];
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

/* No line is wider than the terminal, in letters. */
static void fits_in(const char *text, int columns)
{
    int at = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '\r' || *c == '\n') at = 0;
        else if (strncmp(c, "\033[K", 3) == 0) c += 2;
        else at += (*c & 0xc0) != 0x80;
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

/* A line is cut behind a letter, and the bar takes all that is left of the columns. */
START_TEST(letters)
{
    terminal t;
    for (int columns = 21; columns < 110; columns++) {
        if (!open_terminal(&t, columns)) return;
        FILE          *to = fdopen(t.slave, "w");
        eddy_progress *p = eddy_progress_new(.total = 9, .label = "\u00fc\u00f6\u00e4\u00e9",
                                             .to = to);
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

static void *work(void *p)
{
    for (int i = 0; i < 20000; i++) {
        eddy_progress_add(p, 1);
        if (i % 1000 == 0) eddy_progress_log(p, "line %d", i);
        if (i % 100 == 0) eddy_progress_metric(p, "x", i);
    }
    return NULL;
}

/* Threads: every step counts, and every line is whole. */
START_TEST(threads)
{
    enum { THREADS = 4 };
    pthread_t      at[THREADS];
    FILE          *to = tmpfile();
    char           line[1000];
    int            lines = 0;
    eddy_progress *p = eddy_progress_new(.total = THREADS * 20000, .to = to);
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&at[i], NULL, work, p), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(at[i], NULL);
    ck_assert_int_eq(eddy_progress_done(p), THREADS * 20000);
    eddy_progress_free(p);
    fseek(to, 0, SEEK_SET);
    while (fgets(line, sizeof line, to)) {
        int number, end = 0;
        if (sscanf(line, "line %d%n", &number, &end) == 1 && line[end] == '\n') lines++;
        else ck_assert_ptr_nonnull(strstr(line, "100% 80000/80000 ["));
    }
    ck_assert_int_eq(lines, THREADS * 20);
    fclose(to);
}
END_TEST

Suite *progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *t = tcase_create("progress");
    tcase_add_test(t, plain_lines);
    tcase_add_test(t, other_loops);
    tcase_add_test(t, bars);
    tcase_add_test(t, letters);
    tcase_add_test(t, many_letters);
    suite_add_tcase(suite, t);
    t = tcase_create("threads");
    tcase_set_tags(t, "threads");
    tcase_add_test(t, threads);
    suite_add_tcase(suite, t);
    return suite;
}
