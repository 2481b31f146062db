/* fftw.h -- Fourier transforms (FFT) by FFTW 3, which is loaded when the first transform runs.
 *
 * FFTW's license does not allow linking it to a library under this one's. Users who have it
 * installed can use it; without it, only the run of a transform fails. The environment
 * variable EDDY_FFTW names the folder of the libraries if they are elsewhere. */
#ifndef EDDY_OPS_KERNELS_LIBRARIES_FFTW_H
#define EDDY_OPS_KERNELS_LIBRARIES_FFTW_H

#include <stdbool.h>
#include <stdint.h>

enum { EDDY_FFT_RANK = 3 };

typedef enum eddy_fft_kind {
    EDDY_FFT_FORWARD,        /* complex to complex, the exponent negative */
    EDDY_FFT_BACKWARD,       /* ... positive */
    EDDY_FFT_OF_REAL,        /* real to the first half of complex, forward */
    EDDY_FFT_TO_REAL         /* the first half of complex to real, backward; destroys its input */
} eddy_fft_kind;

/* `many` transforms, one dense array after the other, none scaled. */
typedef struct eddy_fft_job {
    eddy_fft_kind kind;
    bool          single;                /* float, else double */
    int           rank, many;
    int           n[EDDY_FFT_RANK];      /* of the real array, if there is one; not 0 */
} eddy_fft_job;

/* NULL if the library is available, otherwise the reason why it is not. */
const char *eddy__fft_missing(bool single);
/* y = the transforms of x, which is another array; false if out of memory.  May be called from any
 * thread. */
bool eddy__fft_run(const eddy_fft_job *f, void *x, void *y);

#endif
