/* plugin.c -- a shared object linked with libeddy.a, which must not export any symbol of Eddy
 * (scripts/size.sh). */
#include <eddy/eddy.h>

double plugin_twice(double x);

double plugin_twice(double x)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(s, eddy_mul(eddy_scalar(g, x), eddy_scalar(g, 2)));
    const double  twice = y ? eddy_array_item(y) : 0;
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_graph_free(g);
    return twice;
}
