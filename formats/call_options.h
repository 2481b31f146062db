/* call_options.h -- taking over the options of a public call. */
#ifndef EDDY_FORMATS_CALL_OPTIONS_H
#define EDDY_FORMATS_CALL_OPTIONS_H

/* Copies the members that the caller's version of the struct has over `options`, which has the
 * defaults and begins with its own size. given may be NULL. */
void eddy__copy_options(void *options, const void *given);

#endif
