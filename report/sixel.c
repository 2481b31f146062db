/* sixel.c -- a picture as sixels, which some terminals draw: six rows of pixels in each letter, and
 * one color after another.
 *
 *   ESC P q " 1;1;WIDTH;HEIGHT  # COLOR ; 2 ; RED ; GREEN ; BLUE ...      in percent
 *   # COLOR  letters  $ # COLOR  letters  - ...  ESC \
 *
 * A letter is 63 plus the bits of its six pixels; ! COUNT repeats the one that follows. Source:
 * DEC's manual of the VT330 and VT340, chapter 14. */
#include "report/plot_array.h"

#include <stdlib.h>
#include <string.h>

enum { CELL = 10, ROWS = 6, MOST = 500 * CELL, COLORS = 216, LEVELS = 6 };

bool eddy__has_sixel(FILE *to)
{
    static const char *const known[] = { "foot", "mlterm", "yaft", "contour", "sixel" };
    const char *wanted = getenv("EDDY_SIXEL"), *terminal = getenv("TERM");
    if (!eddy__is_colored(to)) return false;
    if (wanted && *wanted) return strcmp(wanted, "0") != 0;
    for (size_t i = 0; terminal && i < sizeof known / sizeof *known; i++)
        if (strstr(terminal, known[i])) return true;
    return false;
}

int64_t eddy__sixel_columns(int64_t width) { return width * CELL; }

/* 6 levels each of red, green and blue, or as many levels of gray. */
static int color_of(const picture *p, int64_t row, int64_t column)
{
    int color = 0;
    if (p->channels != 3) return eddy__picture_byte(p, row, column, 0) * (COLORS - 1) / 255;
    for (int c = 0; c < 3; c++)
        color = color * LEVELS +
                (eddy__picture_byte(p, row, column, c) * (LEVELS - 1) + 127) / 255;
    return color;
}

static void put_palette(const picture *p, FILE *to)
{
    for (int k = 0; k < COLORS; k++) {
        const int gray = k * 100 / (COLORS - 1), step = 100 / (LEVELS - 1);
        if (p->channels != 3) fprintf(to, "#%d;2;%d;%d;%d", k, gray, gray, gray);
        else
            fprintf(to, "#%d;2;%d;%d;%d", k, k / (LEVELS * LEVELS) * step,
                    k / LEVELS % LEVELS * step, k % LEVELS * step);
    }
}

static void put_run(FILE *to, int bits, int n)
{
    if (n > 3) fprintf(to, "!%d%c", n, '?' + bits);
    else
        for (int i = 0; i < n; i++) fputc('?' + bits, to);
}

/* The pixels of one color in a band of six rows. */
static void put_color(FILE *to, uint8_t band[ROWS][MOST], int rows, int wide, int color)
{
    int run = 0, before = 0;
    fprintf(to, "#%d", color);
    for (int x = 0; x < wide; x++) {
        int bits = 0;
        for (int i = 0; i < rows; i++) bits |= (band[i][x] == color) << i;
        if (run > 0 && bits != before) {
            put_run(to, before, run);
            run = 0;
        }
        before = bits;
        run++;
    }
    if (before) put_run(to, before, run);
    fputc('$', to);
}

void eddy__put_sixels(const picture *p, FILE *to, int64_t width)
{
    static _Thread_local uint8_t band[ROWS][MOST];
    const int64_t most = eddy__sixel_columns(width) / p->columns, size = most < CELL ? most : CELL;
    const int64_t wide = p->columns * size, high = p->rows * size;
    fprintf(to, "\033Pq\"1;1;%lld;%lld", (long long)wide, (long long)high);
    put_palette(p, to);
    for (int64_t top = 0; top < high; top += ROWS) {
        const int rows = high - top < ROWS ? (int)(high - top) : ROWS;
        bool      used[COLORS] = { false };
        for (int i = 0; i < rows; i++)
            for (int64_t x = 0; x < wide; x++) {
                const bool begins = x % size == 0;
                if (begins) band[i][x] = (uint8_t)color_of(p, (top + i) / size, x / size);
                else band[i][x] = band[i][x - 1];
                used[band[i][x]] = true;
            }
        for (int k = 0; k < COLORS; k++)
            if (used[k]) put_color(to, band, rows, (int)wide, k);
        fputc('-', to);
    }
    fputs("\033\\\n", to);
}
