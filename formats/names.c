/* names.c -- see names.h. */
#include "names.h"

#include <string.h>

size_t eddy__name_hash(const char *s, size_t n)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

const char *eddy__name_clean(region *memory, const char *name)
{
    while (*name == '/' || *name == '_' || *name == '-') name++;
    char *s = eddy__region_take(memory, strlen(name) + 2, 1);
    if (!s || !*name) return "unnamed";
    size_t n = 0;
    for (const char *p = name; *p && n < 200; p++) {
        const char c = *p;
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '/';
        s[n++] = good ? c : '_';
    }
    while (s[n - 1] == '/') n--;                    /* the first is not */
    s[n] = 0;
    return s[0] == '_' ? "unnamed" : s;
}

bool eddy__name_is_inside(const char *path)
{
    if (!path || !*path || *path == '/') return false;
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == 0)) return false;
    }
    return true;
}

const char *eddy__name_beside(region *memory, const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    return eddy__region_print(memory, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, file);
}
