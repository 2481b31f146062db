/* letters.h -- the columns that letters of UTF-8 take in a terminal. */
#ifndef EDDY_REPORT_LETTERS_H
#define EDDY_REPORT_LETTERS_H

/* Those of the letter that begins at a byte of a text that ends with 0: 2 for the wide letters of East
 * Asia and most pictures, 0 for marks that are drawn onto the letter before, else 1. 0 for a byte in the
 * middle of a letter, so that the sum over all bytes is the width of the text. */
int eddy__letter_columns(const char *at);

#endif
