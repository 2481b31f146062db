/* sanitizer.h -- whether this is compiled for AddressSanitizer. */
#ifndef EDDY_GRAPH_BASE_SANITIZER_H
#define EDDY_GRAPH_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)       /* gcc */
#define EDDY_ADDRESS_SANITIZER
#elif defined(__has_feature)            /* clang */
#if __has_feature(address_sanitizer)
#define EDDY_ADDRESS_SANITIZER
#endif
#endif

#endif
