/* print_images.h -- terminal output of a training program: a confusion matrix, images. */
#ifndef EXAMPLES_PRINT_IMAGES_H
#define EXAMPLES_PRINT_IMAGES_H

#include <stdint.h>

enum { CLASSES = 10 };

/* count[true][predicted], with the share that was found of each class. */
void show_confusion(int count[CLASSES][CLASSES], const char *const names[CLASSES]);

/* n images side by side with their classes and the predicted ones. */
void show_images(int n, const uint8_t *const *pixels, int rows, int cols, int white,
                 const char *const *truth, const char *const *predicted);

#endif
