#include "print_images.h"

#include <eddy/eddy.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* The images side by side as one picture, each with a margin on its right. Pixels of small images
 * are drawn twice as large. */
static eddy_array *picture_of(int n, const uint8_t *const *pixels, int rows, int cols, int scale)
{
    const int   wide = n * (cols + 1) * scale;
    eddy_array *picture = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(rows * scale, wide));
    uint8_t    *to = picture ? eddy_array_data(picture) : NULL;
    for (int y = 0; to && y < rows * scale; y++)
        for (int i = 0; i < n; i++)
            for (int x = 0; x < cols * scale; x++)
                to[(ptrdiff_t)y * wide + i * (cols + 1) * scale + x] =
                    pixels[i][y / scale * cols + x / scale];
    return picture;
}

static void show_names(int n, int width, const char *const *truth, const char *const *predicted)
{
    for (int i = 0; i < n; i++) {
        const bool right = strcmp(truth[i], predicted[i]) == 0;
        char       text[64];
        if (right) snprintf(text, sizeof text, "%s", predicted[i]);
        else snprintf(text, sizeof text, "%s (is %s)", predicted[i], truth[i]);
        printf("%s %-*.*s", right ? "✓" : "✗", width - 2, width - 2, text);
    }
    puts("\n");
}

void show_images(int n, const uint8_t *const *pixels, int rows, int cols, int white,
                 const char *const *truth, const char *const *predicted)
{
    enum { COLUMNS = 72 };
    const int scale = cols <= 14 ? 2 : 1, width = (cols + 1) * scale;
    const int across = width < COLUMNS ? COLUMNS / width : 1;
    for (int first = 0; first < n; first += across) {
        const int   now = first + across < n ? across : n - first;
        eddy_array *picture = picture_of(now, pixels + first, rows, cols, scale);
        eddy_picture_print(picture, .most = white, .width = COLUMNS);
        eddy_array_free(picture);
        show_names(now, width, truth + first, predicted + first);
    }
}
