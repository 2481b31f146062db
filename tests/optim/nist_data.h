/* nist_data.h -- the larger data sets of NIST's reference problems; see nist_regression.h. */
#ifndef EDDY_TESTS_NIST_DATA_H
#define EDDY_TESTS_NIST_DATA_H

extern const double nist_chwirut1_x[], nist_chwirut1_y[], nist_chwirut2_x[], nist_chwirut2_y[],
    nist_lanczos1_y[], nist_lanczos2_y[], nist_lanczos3_y[], nist_gauss1_y[],
    nist_gauss2_y[], nist_gauss3_y[], nist_kirby2_x[], nist_kirby2_y[],
    nist_hahn1_x[], nist_hahn1_y[], nist_nelson_x[], nist_nelson_y[], nist_enso_y[],
    nist_bennett5_x[], nist_bennett5_y[];

#endif
