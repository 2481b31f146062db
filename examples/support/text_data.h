/* text_data.h -- a text as numbers, one for each different character. */
#ifndef EXAMPLES_TEXT_DATA_H
#define EXAMPLES_TEXT_DATA_H

#include <eddy/eddy.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BYTES = 256 };                   /* values of a byte */

typedef struct text {
    unsigned char *bytes;
    size_t         size;
    int32_t        code[BYTES];         /* of the characters that occur; else -1 */
    unsigned char  byte[BYTES];         /* of each code */
    int            codes;
    bool           pair[BYTES][BYTES];  /* of characters that follow each other */
} text;

/* Reads a file. Without one it reads the licenses that Debian's package base-files installs below
 * /usr/share/common-licenses, more than 200 kB (they may be copied, not changed; nothing of them is
 * distributed here); elsewhere the LICENSE of this folder. Runs of blanks and line ends become one.
 * Prints a message and returns false if there are fewer than `least` characters. */
bool text_read(text *t, const char *path, size_t least);
void text_free(text *t);

/* Pieces of `steps` characters from random positions of the text, [batch, steps], and the same one
 * character on; *state is that of the random numbers (splitmix64). */
void text_draw(const text *t, uint64_t *state, int batch, int steps, eddy_array *in,
               eddy_array *next);

/* The feeds of pieces of a text, the loss, the update, and how often they run. */
enum { TEXT_UPDATES = 50 };             /* batches of an epoch */
typedef struct text_training {
    eddy_tensor in, next, loss, train;
    int         batch, steps, epochs;
    uint64_t    seed;                   /* of the positions in the text */
} text_training;

/* Trains with a bar, and prints the loss of each epoch. Returns the mean loss of the last; NaN on an error. */
double text_train(const text *t, const text_training *how, eddy_session *s);

#endif
