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

/* The last has no name. */
extern const saver savers[];
extern const saver real_savers[];        /* only of files of the system */

/* --------------------------------------------------------- shared by savers -- */

enum { SAVED_ELEMENTS = 200, SAVED_VARIABLES = 3 };

/* A graph with variables of SAVED_ELEMENTS each, and its session. */
typedef struct saved_model {
    eddy_graph       *graph;
    eddy_session     *session;
    eddy_tensor       v[SAVED_VARIABLES], y;
    eddy_dataset     *dataset;
    const eddy_files *files;
    char              folder[128];
} saved_model;

void       *saved_model_begin(const eddy_files *files, const char *folder);
void        saved_model_end(void *state);
/* All elements of all variables become the version. */
void        saved_model_set(const saved_model *m, int version);
/* The version that these variables of a checkpoint have, ended by NULL; -1 if they differ. */
int         checkpoint_version(const eddy_files *files, const char *path,
                               const char *const *variables, eddy_status *status);
/* The answer of a load that failed. */
int         no_version(const eddy_error *e, eddy_status *status);
/* Valid until the next call. */
const char *path_in(const char *folder, const char *name);

#endif
