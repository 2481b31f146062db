/* glibc.c -- functions of glibc and libgfortran that musl lacks and that Debian's static libraries
 * call: so the tests, compiled for musl, are linked with Check, OpenBLAS, libyaml, zlib, libpng and
 * libjpeg. FFTW, which is loaded, finds them here too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

/* ----------------------------------------------- with checks of _FORTIFY_SOURCE -- */

int   __vfprintf_chk(FILE *f, int flag, const char *format, va_list args);
int   __fprintf_chk(FILE *f, int flag, const char *format, ...);
int   __printf_chk(int flag, const char *format, ...);
int   __vsnprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, va_list args);
int   __snprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, ...);
int   __sprintf_chk(char *to, int flag, size_t size, const char *format, ...);
void *__memcpy_chk(void *to, const void *from, size_t n, size_t size);
void *__memset_chk(void *to, int c, size_t n, size_t size);
char *__strcat_chk(char *to, const char *from, size_t size);
_Noreturn void __longjmp_chk(jmp_buf at, int value);

static void check(size_t n, size_t size)
{
    if (n > size) abort();
}

int __vfprintf_chk(FILE *f, int flag, const char *format, va_list args)
{
    (void)flag;
    return vfprintf(f, format, args);
}

int __fprintf_chk(FILE *f, int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = __vfprintf_chk(f, flag, format, args);
    va_end(args);
    return n;
}

int __printf_chk(int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = __vfprintf_chk(stdout, flag, format, args);
    va_end(args);
    return n;
}

int __vsnprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, va_list args)
{
    (void)flag;
    check(n, size);
    return vsnprintf(to, n, format, args);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = __vsnprintf_chk(to, n, flag, size, format, args);
    va_end(args);
    return length;
}

int __sprintf_chk(char *to, int flag, size_t size, const char *format, ...)
{
    va_list args;
    (void)flag;
    va_start(args, format);
    const int length = vsprintf(to, format, args);
    va_end(args);
    check((size_t)length + 1, size);
    return length;
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t size)
{
    check(n, size);
    return memcpy(to, from, n);
}

void *__memset_chk(void *to, int c, size_t n, size_t size)
{
    check(n, size);
    return memset(to, c, n);
}

char *__strcat_chk(char *to, const char *from, size_t size)
{
    check(strlen(to) + strlen(from) + 1, size);
    return strcat(to, from);
}

void __longjmp_chk(jmp_buf at, int value) { longjmp(at, value); }

/* ------------------------------------------------------------- threads, Fortran -- */

void  __pthread_register_cancel(void *buffer);
void  __pthread_unregister_cancel(void *buffer);
void *__sched_cpualloc(size_t count);
void  __sched_cpufree(void *set);
void  _gfortran_concat_string(size_t n, char *to, size_t n1, const char *a, size_t n2,
                              const char *b);

/* Tests cancel no threads. */
void __pthread_register_cancel(void *buffer)   { (void)buffer; }
void __pthread_unregister_cancel(void *buffer) { (void)buffer; }

void *__sched_cpualloc(size_t count) { return calloc(count / 64 + 1, 8); }
void  __sched_cpufree(void *set)     { free(set); }

/* Fills `to` with a, b and spaces. */
void _gfortran_concat_string(size_t n, char *to, size_t n1, const char *a, size_t n2, const char *b)
{
    const size_t from_a = n1 < n ? n1 : n, from_b = n2 < n - from_a ? n2 : n - from_a;
    memcpy(to, a, from_a);
    memcpy(to + from_a, b, from_b);
    memset(to + from_a + from_b, ' ', n - from_a - from_b);
}
