/* hdf5_writer.h -- writes HDF5 files, also malicious ones, for tests. */
#ifndef EDDY_TESTS_LIB_HDF5_WRITER_H
#define EDDY_TESTS_LIB_HDF5_WRITER_H

#include "tests/lib/files/zip_writer.h"

/* A file without a root: hdf5_end sets its address. */
message hdf5_begin(void);
void    hdf5_end(message *m, size_t root);

/* The header of an object with so many bytes of messages, which follow; its address. */
size_t hdf5_object(message *m, size_t bytes);
enum { HDF5_LINK_BYTES = 15 };          /* of a link, besides its name */
void   hdf5_link(message *m, const char *name, size_t to);
/* A vector of n float32; the elements, which are not written, are at `data`. */
size_t hdf5_floats(message *m, size_t n, size_t data);
/* The header of a group whose links are in a tree, in the older layout. */
size_t hdf5_old_group(message *m, size_t tree, size_t heap);
size_t hdf5_heap(message *m, const char *names, size_t bytes);
/* A node of a tree, whose children are all `child`; a list of links, all to `to`, each with the name
 * at `name` of the heap. */
size_t hdf5_tree(message *m, int level, int count, size_t child);
size_t hdf5_symbols(message *m, int count, size_t name, size_t to);

#endif
