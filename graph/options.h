/* options.h -- options of a call by name: how a call fills its argument struct, and the values of
 * omitted options.
 *
 *   eddy_random_normal(g, EDDY_SHAPE(2, 3), .stddev = 0.1)
 *
 * calls eddy_random_normal_with with the address of an eddy_random_normal_args: the first arguments
 * in the order of its members, the others by name. An omitted member has its default: the value in
 * EDDY_DEFAULT(...) after its name, for a tensor the number in EDDY_DEFAULT_SCALAR(...), else 0. A
 * value that is given is used as it is, 0 included.
 *
 * The first member of each struct, size_, is the size that the caller knows. A library with more
 * members gives the others their defaults, so a program need not be compiled again when options are
 * added after those that it knows. NULL in place of the struct means all defaults.
 *
 * C++ cannot mix positional arguments with named ones. There, write the names with EDDY_OPTIONS in
 * C++20, or set the members of a struct in C++14 and later:
 *
 *   eddy_sum_with(EDDY_OPTIONS(eddy_reduce_args, .x = x, .keepdims = true));
 *   eddy_reduce_args sum = {};  sum.x = x;  sum.keepdims = true;  eddy_sum_with(&sum); */
#ifndef EDDY_OPTIONS_H
#define EDDY_OPTIONS_H

#include "status.h"                      /* EDDY_API */

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <initializer_list>
#endif

/* The value of an omitted option whose default follows from other arguments, a number that has no
 * other use. Omitted lists and tensors have it in place of their first member. */
#define EDDY_OMITTED (-1073741824)

#ifdef __cplusplus
#if defined(__GNUC__)                     /* the macros leave members out on purpose */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
/* The address of a temporary, which lives until the end of the statement. */
template <class T> inline const T *eddy_address_of_(const T &options) { return &options; }
#if __cplusplus >= 201402L
#define EDDY_DEFAULT(value) = value
#define EDDY_ARGS(type, ...) (eddy_address_of_(type{ sizeof(type), __VA_ARGS__ }))
#define EDDY_OPTIONS(type, ...) (eddy_address_of_(type{ __VA_ARGS__ }))
#else
/* In C++11, a struct with defaults cannot be initialized by a list of values. So it has no defaults
 * there, and its size ends after the arguments of the call: the library sets the other members. */
#include "defaults.h"
#define EDDY_DEFAULT(value)
#define EDDY_ARGS(type, ...) \
    (eddy_address_of_(type{ eddy_size_(sizeof(eddy_count_(__VA_ARGS__)) - 1, { type##_OFFSETS }), \
                            __VA_ARGS__ }))
template <class... T> char (&eddy_count_(T &&...))[sizeof...(T) + 1];
inline size_t eddy_size_(size_t arguments, std::initializer_list<size_t> offsets)
{
    return offsets.begin()[arguments];
}
#endif

#else
/* C has no defaults of members: graph/defaults.awk reads them from the structs, and the macro
 * TYPE_DEFAULTS sets them before the caller's options do. Compilers warn of members that are set
 * twice, which is intended here, so the headers disable the warning. */
#include "defaults.h"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
#define EDDY_DEFAULT(value)
#define EDDY_ARGS(type, ...) \
    (&(type){ type##_DEFAULTS .size_ = EDDY_SIZE_(type), __VA_ARGS__ })
#define EDDY_OPTIONS EDDY_ARGS

/* In the library's own calls, a list without entries counts as omitted. */
#define EDDY_INSIDE_SIZE ((size_t)1 << (8 * sizeof(size_t) - 1))
#ifdef EDDY_INSIDE
#define EDDY_SIZE_(type) (sizeof(type) | EDDY_INSIDE_SIZE)
#else
#define EDDY_SIZE_(type) (sizeof(type))
#endif
#endif

/* The default of a tensor: a scalar of this number, which the library makes. A default of 0 leaves
 * the member zeroed, since a tensor that is written as the number 0 is then the same. */
#define EDDY_DEFAULT_SCALAR(number) \
    EDDY_DEFAULT((number) == 0 ? EDDY_NO_TENSOR : EDDY_OMITTED_TENSOR)

/* For libraries and programs whose own calls take options in this form: copies the members that the
 * caller's version of the struct has over `options`, which has the defaults and begins with its own
 * size. Lists and tensors are copied as they are. NULL in either place changes nothing.
 *
 *   my_args a = { my_args_DEFAULTS .size_ = sizeof a };
 *   eddy_copy_options(&a, given); */
#ifdef __cplusplus
extern "C"
#endif
EDDY_API void eddy_copy_options(void *options, const void *given);

/* --------------------------------------------------------------- lists -- */

enum { EDDY_MAX_RANK = 8 };

/* A short list of dimensions or axes; EDDY_NO_DIMS is the empty list, EDDY_OMITTED_DIMS is an
 * omitted option. Its first member is NULL in every list, so that a plain number written instead of
 * a list, eddy_sum(x, 1) for eddy_sum(x, EDDY_AXES(1)), is not taken for a count. As an argument
 * that is not an option, a zeroed list is one that is not given; as an option it is the number 0,
 * an error. */
#define EDDY_NO_LIST_ ((const struct eddy_write_EDDY_AXES_ *)(intptr_t)EDDY_OMITTED)
typedef struct eddy_dims {
    const struct eddy_write_EDDY_AXES_ *no_number_ EDDY_DEFAULT(EDDY_NO_LIST_);
    int     count EDDY_DEFAULT(0);       /* 0 not given; -1 the empty list */
    int64_t at[EDDY_MAX_RANK];
} eddy_dims;
#ifdef __cplusplus
/* A list that is too long gives a count that every operation rejects. */
inline eddy_dims eddy_dims_of_list_(std::initializer_list<int64_t> at)
{
    eddy_dims d = {};
    d.no_number_ = nullptr;
    for (int64_t i : at)
        if (d.count++ < EDDY_MAX_RANK) d.at[d.count - 1] = i;
    return d;
}
inline eddy_dims eddy_dims_without_entries_(bool given)
{
    eddy_dims d = {};
    d.no_number_ = given ? nullptr : EDDY_NO_LIST_;
    d.count = given ? -1 : 0;
    return d;
}
#define EDDY_DIMS(...) (eddy_dims_of_list_({ __VA_ARGS__ }))
#else
#define EDDY_DIMS(...) ((eddy_dims){                                          \
    .count = (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),     \
    .at    = { __VA_ARGS__ } })
#endif
#define EDDY_AXES EDDY_DIMS
#ifdef __cplusplus
#define EDDY_NO_DIMS      (eddy_dims_without_entries_(true))
#define EDDY_OMITTED_DIMS (eddy_dims_without_entries_(false))
#else
#define EDDY_NO_DIMS      ((eddy_dims){ .count = -1 })
#define EDDY_OMITTED_LIST_ { EDDY_NO_LIST_, 0, { 0 } }           /* the same, in an initializer */
#define EDDY_OMITTED_DIMS ((eddy_dims)EDDY_OMITTED_LIST_)
#endif

#endif
