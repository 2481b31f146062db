/* onnx.c -- runs ONNX's test models and prints how many pass, and why others do not.
 *
 *   onnx [-v] [-g] [-o] [FOLDER ...]      FOLDER: with folders of cases; default ONNX's node tests
 *
 * -v prints every case, -g checks gradients instead, -o leaves the dimensions of inputs open. */
#include "tests/lib/files/onnx_cases.h"

#include <string.h>

static int run_folder(const char *folder, bool verbose, bool gradients, bool open)
{
    static const char *const words[] = { "passed", "WRONG", "not expressible" };
    int    count, of[3] = { 0 }, bound = 0, checked = 0, near = 0;
    char **names = names_in(folder, &count);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        const onnx_result r = gradients ? check_onnx_gradient(path)
                            : open ? run_open_onnx_case(path) : run_onnx_case(path);
        of[r.outcome]++;
        bound += r.outcome == ONNX_PASSED && r.bound;
        checked += r.sets > 0;
        near += r.sets > 0 && r.point > 0;
        if (verbose || r.outcome != ONNX_PASSED)
            printf("%s: %s: %s\n", names[i], words[r.outcome], r.why);
        fflush(stdout);
    }
    free_names(names);
    printf("%s: %d cases, %d passed (%d with constants in place of inputs), %d wrong, %d not "
           "expressible\n",
           folder, count, of[ONNX_PASSED], bound, of[ONNX_WRONG], of[ONNX_INEXPRESSIBLE]);
    if (gradients)
        printf("%s: %d had something to differentiate, %d of them beside a kink\n", folder, checked,
               near);
    return of[ONNX_WRONG];
}

int main(int argc, char **argv)
{
    bool verbose = false, gradients = false, open = false;
    int  wrong = 0, at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        verbose = verbose || strcmp(argv[at], "-v") == 0;
        open = open || strcmp(argv[at], "-o") == 0;
        gradients = gradients || strcmp(argv[at], "-g") == 0;
    }
    if (at == argc) wrong = run_folder(ONNX_CASES "/node", verbose, gradients, open);
    for (; at < argc; at++) wrong += run_folder(argv[at], verbose, gradients, open);
    return wrong != 0;
}
