#include "print_images.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* -------------------------------------------------------------- tables -- */

void show_confusion(int count[CLASSES][CLASSES], const char *const names[CLASSES])
{
    int width = 5;
    for (int i = 0; i < CLASSES; i++)
        if ((int)strlen(names[i]) > width) width = (int)strlen(names[i]);
    printf("  %*s  predicted\n  %*s", width, "", width, "truth");
    for (int j = 0; j < CLASSES; j++) printf("  %4.4s", names[j]);
    puts("    found");
    for (int i = 0; i < CLASSES; i++) {
        int all = 0;
        printf("  %*s", width, names[i]);
        for (int j = 0; j < CLASSES; j++) {
            all += count[i][j];
            if (count[i][j]) printf("  %4d", count[i][j]);
            else printf("     ·");
        }
        printf("  %5.1f %%\n", all ? 100.0 * count[i][i] / all : 0.0);
    }
}

/* -------------------------------------------------------------- images -- */

static const char *shade(double gray)
{
    static const char *const shades[] = { " ", "░", "▒", "▓", "█" };
    return shades[(int)(4.999 * gray)];
}

/* A line of text stands for one row of a small image, each pixel two columns
 * wide, or for two rows of a large one: both make pixels square. */
static void show_line(const uint8_t *pixels, int line, int cols, int white, bool small)
{
    const uint8_t *row = pixels + (small ? line : 2 * line) * cols;
    for (int x = 0; x < cols; x++) {
        double gray = small ? row[x] : (row[x] + row[x + cols]) / 2.0;
        fputs(shade(gray / white), stdout);
        if (small) fputs(shade(gray / white), stdout);
    }
}

void show_images(int n, const uint8_t *const *pixels, int rows, int cols, int white,
                 const char *const *truth, const char *const *predicted)
{
    bool small = cols <= 14;
    int  width = small ? 2 * cols : cols, across = (80 - 2) / (width + 2);
    for (int first = 0; first < n; first += across) {
        int end = first + across < n ? first + across : n;
        for (int line = 0; line < (small ? rows : rows / 2); line++) {
            for (int i = first; i < end; i++) {
                fputs("  ", stdout);
                show_line(pixels[i], line, cols, white, small);
            }
            putchar('\n');
        }
        for (int i = first; i < end; i++) {
            bool right = strcmp(truth[i], predicted[i]) == 0;
            char text[64];
            if (right) snprintf(text, sizeof text, "%s", predicted[i]);
            else snprintf(text, sizeof text, "%s (is %s)", predicted[i], truth[i]);
            printf("  %s %-*.*s", right ? "✓" : "✗", width - 2, width - 2, text);
        }
        puts("\n");
    }
}
