/* letters.c -- the columns of letters, from the property East_Asian_Width of Unicode 15 and the
 * blocks of combining marks. Blocks are taken as a whole: unassigned code points do not matter. */
#include "report/letters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct range { uint32_t first, last; } range;

static const range wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },   { 0x2e80, 0x303e },
    { 0x3041, 0x4dbf },   { 0x4e00, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },
    { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },
    { 0x1f300, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f600, 0x1f64f },
    { 0x1f680, 0x1f6c5 }, { 0x1f90c, 0x1f9ff }, { 0x20000, 0x3fffd },
};
static const range onto_others[] = {
    { 0x300, 0x36f },   { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
    { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

static bool is_in(const range *all, size_t n, uint32_t letter)
{
    for (size_t i = 0; i < n; i++)
        if (letter >= all[i].first && letter <= all[i].last) return true;
    return false;
}

int eddy__letter_columns(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] < 0x80) return 1;
    if (c[0] < 0xc0) return 0;
    const int more = c[0] < 0xe0 ? 1 : c[0] < 0xf0 ? 2 : 3;
    uint32_t  letter = c[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80) return 1;        /* cut off */
        letter = letter << 6 | (c[i] & 0x3f);
    }
    if (is_in(onto_others, sizeof onto_others / sizeof *onto_others, letter)) return 0;
    return is_in(wide, sizeof wide / sizeof *wide, letter) ? 2 : 1;
}
