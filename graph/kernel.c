/* kernel.c -- services for kernels while they are prepared and run: state, packed operands,
 * errors. */
#include "graph/kernel.h"
#include "graph/base/stop.h"

#include <stdio.h>
#include <string.h>

void *eddy_kernel_state(eddy_kernel *k, uint64_t size)
{
    if (!k || !k->impl) return NULL;
    eddy_kernel_call *call = k->impl;
    k->state = size > SIZE_MAX ? NULL : eddy__arena_alloc(call->arena, (size_t)size);
    if (k->state) memset(k->state, 0, (size_t)size);
    else call->no_memory = true;
    return k->state;
}

eddy_status eddy__kernel_prepare(eddy_kernel *k, eddy_status (*prepare)(eddy_kernel *))
{
    const eddy_kernel_call *call = k->impl;
    const eddy_status       s = prepare ? prepare(k) : EDDY_OK;
    return s == EDDY_OK && call->no_memory ? EDDY_NO_MEMORY : s;
}

const void *eddy__kernel_packed_or_shared(const eddy_kernel *k, int i, const eddy_packing *p,
                                          eddy_shared_packing **shared)
{
    const eddy_kernel_call *call = k->impl;
    if (shared) *shared = NULL;
    return call && call->packer ? call->pack(call->packer, k->in[i], p, shared) : NULL;
}

const void *eddy__kernel_packed(const eddy_kernel *k, int i, const eddy_packing *p)
{
    return eddy__kernel_packed_or_shared(k, i, p, NULL);
}

eddy_status eddy_kernel_fail(eddy_kernel *k, eddy_status s, const char *reason, ...)
{
    if (!k || !k->impl || !reason) return s;
    const eddy_kernel_call *call = k->impl;
    char      why[600], message[sizeof call->error->message];
    eddy_type in[8];
    va_list   args;
    va_start(args, reason);
    vsnprintf(why, sizeof why, reason, args);
    va_end(args);
    const int n = k->n_in < 8 ? k->n_in : 8;
    for (int j = 0; j < n; j++) in[j] = k->in[j]->type;
    if (s == EDDY_UNINITIALIZED && call->node->n_inputs > 0) {
        const size_t at = strlen(why);
        snprintf(why + at, sizeof why - at, " %.200s", eddy_name_of(call->node->inputs[0]));
    }
    eddy__op_message(message, sizeof message, k->op, n, in, why, call->node->name);
    eddy__error_set(call->error, s, "%s", message);
    return s;
}

eddy_status eddy__kernel_fail_for_call(eddy_kernel *k, eddy_status s, const char *message)
{
    const eddy_kernel_call *call = k->impl;
    eddy__error_set(call->error, s, "%.600s [node '%.200s']", message, call->node->name);
    return s;
}

eddy_status eddy_kernel_stopped(const eddy_kernel *k)
{
    if (!k || !eddy__stopped(k->stop)) return EDDY_OK;
    return eddy__stop_requested(k->stop) ? EDDY_CANCELLED : EDDY_TIMED_OUT;
}
