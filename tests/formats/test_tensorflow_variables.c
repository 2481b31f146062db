/* test_tensorflow_variables.c -- SavedModels: variables in nodes, functions, loops and branches,
 * and those that the checkpoint lacks or has damaged; constants that are weights; signatures. */
#include "build/gen/suites.h"
#include "tensorflow_programs.h"
#include "tests/lib/files/memory_files.h"

/* The checkpoint of all models here: i and w are whole, and the elements of z are damaged. */
static void put_variables(memory_files *files)
{
    eddy_array *w = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 3, 4 }),
               *i = eddy_array_copy_of(EDDY_INT32, EDDY_SCALAR, (int32_t[]){ 5 });
    tf_bundle   b = tf_bundle_of((tf_bundle_entry[]){ { "i", 3, i, NULL, 0 },
                                                      { "w", 1, w, NULL, 0 },
                                                      { "z", 1, w, NULL, 0 } }, 3);
    b.data.at[b.data.size - 1] ^= 1;
    memory_files_put(files, "m/variables/variables.index", b.index.at, b.index.size);
    memory_files_put(files, "m/variables/variables.data-00000-of-00001", b.data.at, b.data.size);
    tf_bundle_free(&b);
    eddy_array_free(w);
    eddy_array_free(i);
}

static void put_model(memory_files *files, message graph, const char *inputs, const char *outputs)
{
    message m = tf_saved_model_message(graph, inputs, outputs);
    memory_files_put(files, "m/saved_model.pb", m.at, m.size);
    message_free(&m);
}

/* ----------------------------------------------------------------- programs -- */

#define READ(attributes) \
    "x ?f[2] - -;w VarHandleOp - " attributes ";r ReadVariableOp w -;y Mul x,r -"
#define W "w VarHandleOp - dtype=:float,shape=<2>;"

static const program programs[] = {
    { READ("dtype=:float,shape=<2>"), "f[2] 1 2", "f[2] 3 8" },
    { READ("dtype=:float,shape=<-1>"), "f[2] 1 2", "f[2] 3 8" },
    { READ("dtype=:float,shape=2"), "f[2] 1 2", "f[2] 3 8" },
    { READ("-"), "f[2] 1 2", "f[2] 3 8" },
    { "x ?f[2] - -;v VariableV2 - shared_name='w;r Identity v -;y Neg x,^r -", "f[2] 1 2",
      "f[2] -1 -2" },
    { "x ?f[2] - -;v VarHandleOp - shared_name='w;r ReadVariableOp v -;y Mul x,r -", "f[2] 1 2",
      "f[2] 3 8" },
    { "x ?f[2] - -;w VarHandleOp - shared_name='odd;r ReadVariableOp w -;y Mul x,r -", "f[2] 1 2",
      "f[2] 3 8" },
    { READ("dtype=:double"), "f[2]", "!the value in the checkpoint has another type or shape" },
    { READ("dtype=:string"), "f[2]", "!the value in the checkpoint has another type or shape" },
    { READ("shape=<3>"), "f[2]", "!the value in the checkpoint has another type or shape" },
    { "x ?f[2] - -;v VarHandleOp - -;r ReadVariableOp v -;y Mul x,r -", "f[2]",
      "!the checkpoint has no value for the variable" },
    { "x ?f[2] - -;z VarHandleOp - -;r ReadVariableOp z -;y Mul x,r -", "f[2]",
      "!'z': its checksum is wrong" },
    { "x ?f[2] - -;y PartitionedCall x f=@f|f:a:c;" W "r ReadVariableOp w -;c Mul a,r -", "f[2]",
      "!a function makes a variable" },
    { "x ?f[2] - -;" W "i i[1]_1 - -;g ResourceGather w,i -;y Mul x,g -", "f[2] 1 2", "f[2] 4 8" },
    { "x ?f[2] - -;" W "y VariableShape w -", "f[2]", "i[1] 2" },
    { "x ?f[2] - -;" W "y VariableShape w out_type=:int64", "f[2]", "l[1] 2" },
    { "x ?f[2] - -;y ReadVariableOp - -", "f[2]", "!input 0 is not a variable" },
    { "x ?f[2] - -;y ResourceGather - -", "f[2]", "!input 0 is not a variable" },
    { "x ?f[2] - -;y VariableShape - -", "f[2]", "!input 0 is not a variable" },
    { "x ?f[2] - -;y VariableShape x -", "f[2]", "!input 0 is not a variable" },
    { "x ?f[2] - -;" W "n i_0 - -;l While n,w,x cond=@cond,body=@body;y Identity l:2 -"
      "|cond:n,v,a:r;k i_2 - -;r Less n,k -"
      "|body:n,v,a:j,v,c;o i_1 - -;j AddV2 n,o -;r ReadVariableOp v -;c Mul a,r -", "f[2] 1 2",
      "f[2] 9 32" },
    { "x ?f[2] - -;" W "p ?b - -;c If p,w,x then_branch=@f,else_branch=@f;r ReadVariableOp c -;"
      "y Mul c:1,r -|f:v,a:v,a", "f[2]", "?p" },
    { "x ?f[2] - -;" W "p b_1 - -;c If p,w,x then_branch=@f,else_branch=@f;r ReadVariableOp c -;"
      "y Mul c:1,r -|f:v,a:v,a", "f[2] 1 2", "f[2] 3 8" },
};

START_TEST(variables)
{
    memory_files     files;
    const text_graph g = text_graph_of(programs[_i].text);
    memory_files_init(&files);
    put_variables(&files);
    put_model(&files, text_graph_message(&g), "x=x:0", "y=y:0");
    check_program(&programs[_i], "m", NULL, &files.table);
    check_program(&programs[_i], "m/", NULL, &files.table);
    memory_files_free(&files);
}
END_TEST

/* -------------------------------------------------------------------- files -- */

START_TEST(without_variables)
{
    const program    p = { READ("-"), "f[2]", "!there is no variables/variables.index" },
                     damaged = { READ("-"), "f[2]", "!not an index of a checkpoint" },
                     without = { "x ?f[2] - -;y Neg x -", "f[2] 1 2", "f[2] -1 -2" };
    memory_files     files;
    const text_graph g = text_graph_of(p.text), h = text_graph_of(without.text);
    memory_files_init(&files);
    put_model(&files, text_graph_message(&g), "x=x:0", "y=y:0");
    check_program(&p, "m", NULL, &files.table);
    memory_files_put(&files, "m/variables/variables.index", "no index", 8);
    check_program(&damaged, "m", NULL, &files.table);
    memory_files_free(&files);
    memory_files_init(&files);
    put_model(&files, text_graph_message(&h), "x=x:0", "y=y:0");
    check_program(&without, "m", NULL, &files.table);
    memory_files_free(&files);
}
END_TEST

/* How many trainable variables a model has whose constants are a weight, a scalar, an integer and
 * one in a branch. */
static int trainable(const memory_files *files, const message *bytes, bool as_variables)
{
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = eddy_tensorflow_read(
        g, files ? "m" : NULL, .data = bytes ? bytes->at : NULL,
        .data_size = bytes ? bytes->size : 0, .files = files ? &files->table : NULL,
        .variables = as_variables, .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    const int n = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    return n;
}

START_TEST(weights)
{
    const text_graph t = text_graph_of(
        "x ?f[2] - -;p ?b - -;k f[2]_5_6 - -;s f_2 - -;i i[2]_1_2 - -;"
        "d AddV2 x,s -;a AddV2 d,k -;j Cast i DstT=:float;"
        "b AddV2 a,j -;y If p,b then_branch=@f,else_branch=@f|f:a:c;k f[2]_7_8 - -;c AddV2 a,k -");
    memory_files files;
    message      m = text_graph_message(&t);
    ck_assert_int_eq(trainable(NULL, &m, false), 0);
    ck_assert_int_eq(trainable(NULL, &m, true), 1);     /* k of the graph */
    memory_files_init(&files);
    put_model(&files, m, "x=x:0,p=p:0", "y=y:0");
    ck_assert_int_eq(trainable(&files, NULL, true), 0); /* only its variables are */
    memory_files_free(&files);
}
END_TEST

/* --------------------------------------------------------------- signatures -- */

static message signature(const char *name, message value)
{
    message entry = { NULL, 0 };
    message_text(&entry, 1, name);
    message_inner(&entry, 2, value);
    return entry;
}

/* An input or output "key" of the signature, the tensor, with a shape [?, 3] or none. */
static void add_port(message *signature, uint32_t field, const char *key, const char *tensor,
                     bool shaped)
{
    message port = { NULL, 0 }, info = { NULL, 0 }, shape = { NULL, 0 }, any = { NULL, 0 },
            three = { NULL, 0 };
    message_number(&any, 1, (uint64_t)-1);
    message_number(&three, 1, 3);
    message_inner(&shape, 2, any);
    message_inner(&shape, 2, three);
    message_text(&info, 1, tensor);
    if (shaped) message_inner(&info, 3, shape);
    else message_free(&shape);
    message_text(&port, 1, key);
    message_inner(&port, 2, info);
    message_inner(signature, field, port);
}

static message placeholder(const char *name, bool shaped)
{
    message m = tf_node_message(name, "Placeholder", "");
    tf_add_type(&m, "dtype", 1);
    if (shaped) tf_add_shape(&m, "shape", 2, (int64_t[]){ 7, 3 });
    return m;
}

/* Signatures for the initialization and for prediction, which gives the shape of a; b has its own,
 * c none, and "lost" is not in the graph. */
static message signed_model(void)
{
    message m = { NULL, 0 }, meta = { NULL, 0 }, g = { NULL, 0 }, init = { NULL, 0 },
            predict = { NULL, 0 };
    message_inner(&g, 1, placeholder("a", false));
    message_inner(&g, 1, placeholder("b", true));
    message_inner(&g, 1, placeholder("c", false));
    message_inner(&g, 1, tf_node_message("y", "Neg", "a"));
    message_inner(&g, 1, tf_node_message("z", "Neg", "y"));
    add_port(&init, 2, "op", "y", false);
    add_port(&predict, 1, "a", "a:0", true);
    add_port(&predict, 1, "b", "b:0", true);
    add_port(&predict, 1, "c", "c:0", false);
    add_port(&predict, 2, "out", "y:0", false);
    message_inner(&meta, 2, g);
    message_inner(&meta, 5, signature("__saved_model_init_op", init));
    message_inner(&meta, 5, signature("predict", predict));
    message_number(&m, 1, 1);
    message_inner(&m, 2, meta);
    return m;
}

START_TEST(signatures)
{
    message                bytes = signed_model();
    char                   text[40];
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m =
        eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size, .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    static const char *const names[] = { "a", "b", "c" },
                      *const shapes[] = { "[?,3]", "[7,3]", "?" };
    ck_assert_int_eq(eddy_tensorflow_input_count(m), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(eddy_tensorflow_input_name(m, i), names[i]);
        ck_assert_str_eq(eddy_shape_print(eddy_shape_of(eddy_tensorflow_input(m, names[i])), text,
                                          sizeof text), shapes[i]);
    }
    ck_assert_int_eq(eddy_tensorflow_output_count(m), 1);
    ck_assert_str_eq(eddy_tensorflow_output_name(m, 0), "out");
    eddy_tensorflow_free(m);
    /* An input of the signature that is not in the graph. */
    message_free(&bytes);
    message graph = { NULL, 0 };
    message_inner(&graph, 1, placeholder("x", false));
    bytes = tf_saved_model_message(graph, "a=x:0,lost=lost:0", "y=x:0");
    ck_assert_ptr_null(eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                            .error = &e));
    ck_assert_str_eq(e.message, "TensorFlow model: there is no value 'lost:0'");
    message_free(&bytes);
    eddy_graph_free(g);
}
END_TEST

Suite *tensorflow_variables_suite(void)
{
    Suite *s = suite_create("tensorflow_variables");
    TCase *t = tcase_create("variables");
    tcase_add_loop_test(t, variables, 0, sizeof programs / sizeof *programs);
    tcase_add_test(t, without_variables);
    tcase_add_test(t, weights);
    tcase_add_test(t, signatures);
    suite_add_tcase(s, t);
    return s;
}
