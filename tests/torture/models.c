/* models.c -- models and checkpoints of TensorFlow in several files, and calls with bindings,
 * without enough memory; reading.c has each operator. */
#include "tests/lib/files/tensorflow_text_graphs.h"
#include "tests/torture/scenario.h"

#include <stdio.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------- models -- */

static const char json[] =
    "{\"modelTopology\":{\"node\":["
    "{\"name\":\"x\",\"op\":\"Placeholder\",\"attr\":{\"dtype\":{\"type\":\"DT_FLOAT\"},"
    "\"shape\":{\"shape\":{\"dim\":[{\"size\":\"2\"}]}}}},"
    "{\"name\":\"w\",\"op\":\"Const\",\"attr\":{\"value\":{\"tensor\":{\"dtype\":\"DT_FLOAT\"}}}},"
    "{\"name\":\"h\",\"op\":\"Const\",\"attr\":{\"value\":{\"tensor\":{\"dtype\":\"DT_FLOAT\"}}}},"
    "{\"name\":\"b\",\"op\":\"Const\",\"attr\":{\"value\":{\"tensor\":{\"dtype\":\"DT_BOOL\"}}}},"
    "{\"name\":\"c\",\"op\":\"PartitionedCall\",\"input\":[\"x\",\"w\"],"
    "\"attr\":{\"f\":{\"func\":{\"name\":\"f\"}},\"s\":{\"s\":\"QQ==\"},"
    "\"l\":{\"list\":{\"s\":[\"QQ==\"]}},\"i\":{\"list\":{\"i\":[\"3\"]}},"
    "\"o\":{\"list\":{\"shape\":[{}]}}}},"
    "{\"name\":\"s\",\"op\":\"AddV2\",\"input\":[\"c\",\"h\"]},"
    "{\"name\":\"y\",\"op\":\"SelectV2\",\"input\":[\"b\",\"s\",\"x\"]}],"
    "\"library\":{\"function\":[{\"signature\":{\"name\":\"f\",\"inputArg\":[{\"name\":\"a\"},"
    "{\"name\":\"b\"}],\"outputArg\":[{\"name\":\"r\"}]},\"nodeDef\":[{\"name\":\"n\",\"op\":"
    "\"Mul\",\"input\":[\"a\",\"b\"]}],\"ret\":{\"r\":\"n:z:0\"}}]}},"
    "\"signature\":{\"inputs\":{\"in\":{\"name\":\"x:0\"}},\"outputs\":{\"out\":{\"name\":"
    "\"y:0\"}}},\"weightsManifest\":[{\"paths\":[\"w0\",\"w1\"],\"weights\":["
    "{\"name\":\"w\",\"dtype\":\"float32\",\"shape\":[2],\"quantization\":{\"dtype\":\"uint8\","
    "\"scale\":0.5,\"min\":-1}},{\"name\":\"h\",\"dtype\":\"float32\",\"shape\":[2],"
    "\"quantization\":{\"dtype\":\"float16\"}},{\"name\":\"b\",\"dtype\":\"bool\","
    "\"shape\":[2]}]}]}";

/* A SavedModel: a loop over a variable. */
static const char saved[] =
    "x ?f[2] - -;w VarHandleOp - dtype=:float,shape=<2>;n i_0 - -;m NoOp - -;i i[2]_1_0 - -;"
    "l While n,w,m,x cond=@cond,body=@body;r ResourceGather w,i -;z Mul l:3,r -;"
    "s VariableShape w -;y Reshape z,s -"
    "|cond:n,v,m,a:r;k i_2 - -;r Less n,k -"
    "|body:n,v,m,a:j,v,m,c;o i_1 - -;j AddV2 n,o -;r ReadVariableOp v -;c Mul a,r -";

/* A graph of many Switches, one node of which is not known. */
static const char partly[] =
    "x ?f[2] - -;p ?b - -;s Switch x,p -;t Switch x,p -;u Switch x,p -;v Switch x,p -;"
    "a AddN s,t,u,v -;b Switch x,p -;c Switch x,p -;d Switch x,p -;e Switch x,p -;"
    "f AddN b,c,d,e -;g Switch x,p -;h Switch x,p -;i Switch x,p -;j Switch x,p -;"
    "k AddN g,h,i,j -;l AddN a,f,k -;z Switch x,p -;y Merge l,z:1 -;o Nothing x -;"
    "q PartitionedCall x f=@f;r TensorListFromTensor x,x -|f:a:";

enum { JSON_MODEL, SAVED_MODEL, PARTLY_READ, BOUND_MODEL, MODELS };

static int         count_models(void) { return MODELS; }
static const char *name_model(int i)
{
    return (const char *[]){ "TensorFlow.js", "SavedModel", "unknown node", "bindings" }[i];
}

static void *begin_model(int i)
{
    const text_graph g = text_graph_of(i == SAVED_MODEL ? saved : partly);
    message          m = text_graph_message(&g);
    if (i == JSON_MODEL) {
        scratch_put("model.json", json, sizeof json - 1);
        scratch_put("w0", (uint8_t[]){ 2, 4, 0 }, 3);
        scratch_put("w1", (uint8_t[]){ 0x3c, 0, 0x40, 1, 0 }, 5);
    }
    if (i == SAVED_MODEL) {
        eddy_array *a = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(2), 0, 1);
        tf_bundle   b = tf_bundle_of((tf_bundle_entry[]){ { "w", 1, a, NULL, 0 } }, 1);
        m = tf_saved_model_message(m, "x=x:0", "y=y:0");
        mkdir(scratch("m"), 0700);
        mkdir(scratch("m/variables"), 0700);
        scratch_put("m/saved_model.pb", m.at, m.size);
        scratch_put("m/variables/variables.index", b.index.at, b.index.size);
        scratch_put("m/variables/variables.data-00000-of-00001", b.data.at, b.data.size);
        tf_bundle_free(&b);
        eddy_array_free(a);
    }
    if (i == PARTLY_READ) scratch_put("partly.pb", m.at, m.size);
    if (i == BOUND_MODEL) scratch_put("bound.pb", m.at, m.size);
    message_free(&m);
    return NULL;
}

/* The report names what is missing; the model is read with a constant as its input. */
static void read_model(int i, void *state, outcome *o)
{
    static const char *const paths[] = { "model.json", "m", "partly.pb", "bound.pb" };
    eddy_error               e = { 0 };
    eddy_graph              *g = eddy_graph_new();
    (void)state;
    eddy_model_report *r = eddy_tensorflow_check(scratch(paths[i]), .error = &e);
    outcome_of_error(o, &e);
    outcome_add(o, &(int){ eddy_model_report_size(r) }, sizeof(int));
    eddy_model_report_free(r);
    if (!outcome_of_graph(o, g) || i == PARTLY_READ) {
        eddy_graph_free(g);
        return;
    }
    const eddy_tensor        x = eddy_constant(g, EDDY_VIEW(((float[]){ 1, 2 }), 2));
    const eddy_model_binding in = { i == JSON_MODEL ? "in" : "x", EDDY_LIST(x) };
    eddy_tensorflow_model   *m = eddy_tensorflow_read(
        g, scratch(paths[i]), .variables = true, .inputs = &in, .input_count = 1,
        .outputs = (const char *const[]){ "y" }, .output_count = 1, .error = &e);
    outcome_of_error(o, &e);
    outcome_of_graph(o, g);
    outcome_add(o, &(int){ eddy_tensorflow_output_count(m) }, sizeof(int));
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

/* --------------------------------------------------------------- checkpoints -- */

/* More tensors than there is room for at first, one of bools, and names of objects for more than
 * the room of these. */
static void *begin_bundle(int i)
{
    enum { MOST = 80 };
    static char     names[MOST][12];
    tf_bundle_entry entries[MOST + 2];
    message         objects = { NULL, 0 }, node = { NULL, 0 };
    eddy_array     *a = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(3, 4), 0, 1),
                   *u = numbers_in(EDDY_BOOL, EDDY_SHAPE(3), 0, 2);
    (void)i;
    for (int k = 0; k < MOST; k++) {
        message attribute = { NULL, 0 };
        char    full[24];
        snprintf(names[k], sizeof names[k], "x%03d", k);
        snprintf(full, sizeof full, "full %03d", k);
        message_text(&attribute, 2, full);
        message_text(&attribute, 3, names[k]);
        message_inner(&node, 2, attribute);
        entries[k + 2] = (tf_bundle_entry){ names[k], 1, a, NULL, 0 };
    }
    message_inner(&objects, 1, node);
    entries[0] = (tf_bundle_entry){ "_CHECKPOINTABLE_OBJECT_GRAPH", 7, NULL,
                                    (const char *)objects.at, objects.size };
    entries[1] = (tf_bundle_entry){ "w", 10, u, NULL, 0 };
    tf_bundle b = tf_bundle_of(entries, MOST + 2);
    scratch_put("b.index", b.index.at, b.index.size);
    scratch_put("b.data-00000-of-00001", b.data.at, b.data.size);
    tf_bundle_free(&b);
    message_free(&objects);
    eddy_array_free(a);
    eddy_array_free(u);
    return NULL;
}

static void bundle(int i, void *state, outcome *o)
{
    eddy_error e = { 0 };
    (void)i, (void)state;
    outcome_add_checkpoint(o, eddy_tensorflow_checkpoint_open(scratch("b"), .error = &e), &e);
}

const scenarios models[] = {
    { .kind = "TensorFlow model", .count = count_models, .name = name_model,
      .begin = begin_model, .act = read_model },
    { .kind = "checkpoint of TensorFlow", .begin = begin_bundle, .act = bundle },
    { .kind = NULL },
};
