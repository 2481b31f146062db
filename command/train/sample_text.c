/* sample_text.c -- a text that a trained network of characters writes. */
#include "command/train/results.h"

#include <math.h>
#include <string.h>

/* The number of a character, drawn with the probabilities softmax(logits / temperature). */
static int32_t draw(const eddy_array *logits, int64_t from, int64_t classes, double temperature,
                    double uniform)
{
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < classes; k++) most = fmax(most, eddy_array_get(logits, from + k));
    for (int64_t k = 0; k < classes; k++)
        sum += exp((eddy_array_get(logits, from + k) - most) / temperature);
    for (int64_t k = 0; k < classes; k++) {
        uniform -= exp((eddy_array_get(logits, from + k) - most) / temperature) / sum;
        if (uniform < 0) return (int32_t)k;
    }
    return (int32_t)classes - 1;
}

/* Reads the first piece of the text and goes on, each time from the last characters. */
bool sample_text(const training *t, eddy_session *s)
{
    const int64_t length = eddy_array_shape(t->train.arrays[0]).dim[1], classes = t->b.classes;
    int32_t      *read = room((size_t)(length + t->sample), sizeof *read);
    uint64_t      random = (uint64_t)t->seed;
    eddy_array   *out[1] = { NULL };
    bool          fine = true;
    memcpy(read, eddy_array_data(t->train.arrays[0]), (size_t)length * sizeof *read);
    for (int64_t i = 0; fine && i < t->sample; i++) {
        const eddy_array *batch[MOST_PARTS] = { EDDY_VIEW(read + i, 1, length),
                                                t->train.arrays[1] };
        eddy_feed feeds[MOST_PARTS + 1];
        fine = eddy_run(s, training_feeds(t, batch, false, feeds), EDDY_FETCH(t->output), out) ==
               EDDY_OK;
        if (fine && eddy_array_count(out[0]) != length * classes) {
            eddy_array_free(out[0]);
            return fail(NULL, "the network has no numbers for each of %s at each place",
                        number_of(classes, "character")) == SUCCESS;
        }
        if (fine)
            read[length + i] = draw(out[0], (length - 1) * classes, classes, t->temperature,
                                    (double)(random_next(&random) >> 11) * 0x1p-53);
    }
    eddy_array_free(out[0]);
    if (!fine) return fail(NULL, "%s", eddy_session_message(s)) == SUCCESS;
    enum { LONGEST = 4 };                       /* bytes of a character */
    char *written = room((size_t)t->sample * LONGEST + 1, 1), *end = written;
    for (int64_t i = 0; i < t->sample; i++) {
        const char *word = t->train.words[read[length + i]];
        memcpy(end, word, strlen(word));
        end += strlen(word);
    }
    if (as_json) json_text("sample", written);
    else printf("\n%s\n", written);
    return true;
}
