/* savers.h -- everything that saves a file, in versions that can be told apart. */
#ifndef EDDY_TESTS_TORTURE_SAVERS_H
#define EDDY_TESTS_TORTURE_SAVERS_H

#include "../../formats.h"
#include "../../input.h"

typedef struct saver {
    const char *name;
    void       *(*begin)(const eddy_files *files, const char *folder);
    eddy_status (*save)(void *state, int version);
    /* The version that is found, whole; 0 if there is none, -1 if it is damaged or cannot be read,
     * with the reason. */
    int         (*load)(const eddy_files *files, const char *folder, eddy_status *status);
    void        (*end)(void *state);
} saver;

extern const saver savers[];             /* the last has no name */

#endif
