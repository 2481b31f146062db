/* test_tensorflow_programs.c -- small graphs of TensorFlow that are read and run: control flow of
 * both versions, functions, arrays, and sizes that are computed, also with something wrong. */
#include "build/gen/suites.h"
#include "tensorflow_programs.h"

/* ------------------------------------------------------------- control flow -- */

#define BRANCH_OF(p) \
    "x ?f[2] - -;p " p " - -;s Switch x,p -;a Neg s:1 -;c Abs s -;y Merge c,a -"
#define CASE_OF(i) \
    "x ?f[2] - -;i " i " - -;y Case i,x branches=@f&g|f:a:c;c Neg a -|g:a:c;c Abs a -"
#define CALL_OF(function) "x ?f[2] - -;y PartitionedCall x f=@f|f:a:c;" function
/* A loop of these values with functions cond and body; then the number of its output that is y. */
#define LOOP(values, attributes) \
    "x ?f[2] - -;n i_0 - -;w While " values " " attributes "cond=@cond,body=@body;y Identity w:"
#define TOP "k i_1 - -;t TopKV2 a,k -;"
#define UNTIL_2 "k i_2 - -;r Less n,k -"
#define NEXT "o i_1 - -;j AddV2 n,o -;"

static const program control[] = {
    { BRANCH_OF("b_1"), "f[2] 1 -2", "f[2] -1 2" },
    { BRANCH_OF("b_0"), "f[2] 1 -2", "f[2] 1 2" },
    { BRANCH_OF("b[2]_1_0"), "f[2] 1 -2", "!Reshape" },
    { "x ?f[2] - -;p ?b - -;k f[2]_5_6 - -;s Switch k,p -;a AddV2 s:1,x -;y Merge s,a -",
      "f[2] 1 2", "?p" },
    { CASE_OF("i_0"), "f[2] 1 -2", "f[2] -1 2" },
    { CASE_OF("i_1"), "f[2] 1 -2", "f[2] 1 2" },
    { CASE_OF("i_5"), "f[2] 1 -2", "f[2] 1 2" },
    { CASE_OF("i_-1"), "f[2] 1 -2", "f[2] 1 2" },
    { CASE_OF("i[2]"), "f[2] 1 -2", "!Reshape" },
    { "x ?f[2] - -;i i - -;y Case i,x branches=@f&h|f:a:c;c Neg a -", "f[2]", "!no function 'h'" },
    { "x ?f[2] - -;i i - -;y Case i,x -", "f[2]", "!it has 0 branches; the limit is 16" },
    { "x ?f[2] - -;i i - -;y Case i,x branches=@f&f&f&f&f&f&f&f&f&f&f&f&f&f&f&f&f|f:a:c;c Neg a -",
      "f[2]", "!it has 17 branches; the limit is 16" },
    { "x ?f[2] - -;i i - -;y Case i,x branches=@f&f&f&f&f&f&f&f&f&f&f&f&f&f&f&f|f:a:c;c Neg a -",
      "f[2] 1 -2", "f[2] -1 2" },
    /* An index outside of known numbers, in a branch that need not run. */
    { "x ?f[3] - -;s i[3]_2_3_4 - -;p ?b - -;y If p,s then_branch=@f,else_branch=@g"
      "|f:a:c;k i_1 - -;z i - -;c GatherV2 a,k,z -|g:a:r;k i_3 - -;z i - -;r GatherV2 a,k,z -",
      "f[3] 1 2 3", "?p" },
    { "x ?f[2] - -;y If - then_branch=@f,else_branch=@f|f::c;c f - -", "f[2]",
      "!input 0 is missing" },
    { "x ?f[2] - -;p ?b - -;y If p,x then_branch=@f,else_branch=@g|f:a:c;c Neg a -"
      "|g:a:c,c;c Abs a -",
      "f[2]", "!the branches do not have equally many results" },
    { "x ?f[2] - -;p ?b - -;y If p,x then_branch=@f,else_branch=@f|f:a:m;m NoOp - -", "f[2]",
      "!the number of results of branch is 0" },
    { "x ?f[2] - -;y If x,x then_branch=@f,else_branch=@f|f:a:c;c Neg a -", "f[2]", "!Reshape" },
    { "x ?f - -;y If x,x then_branch=@f,else_branch=@g|f:a:c;c Neg a -|g:a:c;c f_9 - -", "f 0",
      "f 9" },
    { CALL_OF("c Neg a -"), "f[2] 1 -2", "f[2] -1 2" },
    { CALL_OF(TOP "c Identity t:indices:0 -"), "f[2] 1 2", "i[1] 1" },
    { CALL_OF(TOP "c Identity t:values:0 -"), "f[2] 1 2", "f[1] 2" },
    { CALL_OF(TOP "c Identity t:odd:0 -"), "f[2] 1 2", "f[1] 2" },
    { CALL_OF(TOP "c Identity t:odd:1 -"), "f[2] 1 2", "i[1] 1" },
    { CALL_OF(TOP "c Identity t::1 -"), "f[2] 1 2", "i[1] 1" },
    { CALL_OF("c Neg a: -"), "f[2] 1 2", "f[2] -1 -2" },
    { CALL_OF("d Neg a -;c Neg d: -"), "f[2]", "!input 'd:' is not defined" },
    { CALL_OF("d Neg a -;c Neg d:x -"), "f[2]", "!input 'd:x' is not defined" },
    { CALL_OF("d Neg a -;c Neg d:-1 -"), "f[2]", "!input 'd:-1' is not defined" },
    { CALL_OF("d Neg a -;c Neg d:1000000 -"), "f[2]", "!input 'd:1000000' is not defined" },
    { CALL_OF("d Neg a -;c Neg d:999999 -"), "f[2]", "!input 'd:999999' is not defined" },
    { "x ?f[2] - -;z f[2]_5_6 - -;y PartitionedCall x,z f=@f|f:a,a:c;c Neg a -", "f[2] 1 2",
      "f[2] -1 -2" },
    { "x ?f[2] - -;y PartitionedCall x,x f=@f|f:a:c;c Neg a -", "f[2]",
      "!function 'f' does not have the inputs of the node" },
    { "x ?f[2] - -;y PartitionedCall x f=@f|f:a:", "f[2]", "!an input is not computed" },
    { "x ?f[2] - -;y PartitionedCall x -|f:a:c;c Neg a -", "f[2]",
      "!there is no attribute 'f' with a function" },
    { "x ?f[2] - -;y Unpack x num=0", "f[2]", "!an input is not computed" },
    /* Only a node before which another must run, of a name that no node may have. */
    { "x ?f[2] - -;^n Nothing x -;y Neg x,^n -", "f[2] 1 2", "f[2] -1 -2" },
    { "x ?f[2] - -;y ShapeN - -", "f[2]", "!there is no value 'y'" },
};

static const program loops[] = {
    { LOOP("n,x", "") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT "c Neg a -", "f[2] 1 2",
      "f[2] 1 2" },
    { LOOP("n,x", "") "1 -|cond:n,a:r;k i_2 - -;r Sub k,n -|body:n,a:j,c;" NEXT "c AddV2 a,a -",
      "f[2] 1 2", "f[2] 4 8" },
    { LOOP("n,m,x", "") "2 -;m NoOp - -|cond:n,m,a:r;" UNTIL_2 "|body:n,m,a:j,m,c;" NEXT
      "c AddV2 a,a -", "f[2] 1 2", "f[2] 4 8" },
    { LOOP("n,x", "output_shapes=(&-1),") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT
      "z i_0 - -;d f[1]_7 - -;c ConcatV2 a,d,z -", "f[2] 1 2", "f[4] 1 2 7 7" },
    { LOOP("n,x", "") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT
      "z i_0 - -;d f[1]_7 - -;c ConcatV2 a,d,z -", "f[2]", "!is not an invariant for the loop" },
    { LOOP("n,x", "output_shapes=(-1),") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT
      "z i_0 - -;d f[1]_7 - -;c ConcatV2 a,d,z -", "f[2]", "!is not an invariant for the loop" },
    { LOOP("n,x", "output_shapes=(&-1),") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT
      "d i[2] - -;c AddV2 a,d -", "f[2]", "!cast one" },
    { LOOP("n,x", "output_shapes=(&-1),") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT
      "c Cast a DstT=:int32", "f[2]", "!before an iteration" },
    { LOOP("n,x", "output_shapes=(&-1),") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,c;" NEXT
      "c Nothing a -", "f[2]", "!operator Nothing is not known" },
    { LOOP("n,x", "") "1 -|cond:n,a:n,n;" UNTIL_2 "|body:n,a:j,a;" NEXT, "f[2]",
      "!the functions do not have the results of a loop" },
    { LOOP("n,x", "") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j;" NEXT, "f[2]",
      "!the functions do not have the results of a loop" },
    { LOOP("n,x", "") "1 -|cond:n,a:r;" UNTIL_2 "|body:n:j,j;" NEXT, "f[2]",
      "!function 'body' does not have the inputs of the node" },
    { LOOP("n,x", "") "1 -|cond:n:r;" UNTIL_2 "|body:n,a:j,a;" NEXT, "f[2]",
      "!function 'cond' does not have the inputs of the node" },
    { LOOP("n,x", "") "1 -|cond:n,a:r;" UNTIL_2, "f[2]", "!the file has no function 'body'" },
    { "x ?f[2] - -;w While x body=@body;y Identity w -|body:a:a", "f[2]",
      "!there is no attribute 'cond' with a function" },
    { LOOP("n,s", "") "1 -;s s - -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,a;" NEXT, "f[2]",
      "!values of type string are not supported" },
    { LOOP("n,x", "") "1 -|cond:n,a:r;" UNTIL_2 "|body:n,a:j,s;" NEXT "s s - -", "f[2]",
      "!values of type string are not supported" },
    { "x ?f[2] - -;m NoOp - -;w While m cond=@cond,body=@body;y Identity w -|cond:m:r;r b - -"
      "|body:m:m", "f[2]", "!a loop carries no tensors" },
    { LOOP("n,m", "") "1 -;m NoOp - -|cond:n,m:r;" UNTIL_2 "|body:n,m:m,m", "f[2]",
      "!loop variable 0 changes its kind" },
    { LOOP("n,m", "") "1 -;m NoOp - -|cond:n,m:r;" UNTIL_2 "|body:n,m:j,j;" NEXT, "f[2]",
      "!loop variable 1 changes its kind" },
    { "x ?f[2] - -;z i - -;o i_1 - -;n i_2 - -;A TensorArrayV3 n dtype=:float,element_shape=<2>;"
      "e Enter z frame_name='w;f Enter A:1 frame_name='w;m Merge e,t -;p Merge f,u -;c Less m,n -;"
      "l LoopCond c -;s Switch m,l -;q Switch p,l -;i AddV2 s:1,o -;t NextIteration i -;"
      "w TensorArrayWriteV3 A,s:1,x,q:1 -;u NextIteration w -;v Exit q -;"
      "y TensorArrayConcatV3 A,v -", "f[2] 3 4", "f[4] 3 4 3 4" },
    { "x ?f[2] - -;z i - -;e Enter z frame_name='w;k Enter j is_constant=true;j Nothing x -;"
      "m Merge e,t -;c Less m,z -;l LoopCond c -;s Switch m,l -;t NextIteration s:1 -;y Exit s -",
      "f[2]", "i 0" },
    { "x ?f[2] - -;z i - -;e Enter z -;k Enter j is_constant=true;j Nothing x -;"
      "m Merge e,t -;c Less m,z -;l LoopCond c -;s Switch m,l -;t NextIteration s:1 -;y Exit s -",
      "f[2]", "!operator Nothing is not known" },
};

/* ------------------------------------------------------------------- arrays -- */

static const program arrays[] = {
    { "x ?f[2] - -;n i_1 - -;A TensorArrayV3 n dtype=:float,dynamic_size=true;h i[2]_0_3 - -;"
      "w TensorArrayScatterV3 A,h,x,A:1 -;y TensorArraySizeV3 A,w -", "f[2]", "i 4" },
    { "x ?f[2] - -;n i_2 - -;A TensorArrayV3 n dtype=:float,element_shape=3;h i[2]_1_0 - -;"
      "w TensorArrayScatterV3 A,h,x,A:1 -;y TensorArrayGatherV3 A,h,w -", "f[2] 5 6", "f[2] 5 6" },
    { "x ?f[2] - -;n i_2 - -;A TensorArrayV3 n dtype=:float,element_shape=<3>;i i - -;"
      "w TensorArrayWriteV3 A,i,x,A:1 -;y TensorArrayReadV3 A,i,w -", "f[2]", "!hape" },
    { "x ?f[2] - -;n i_2 - -;h i[1]_2 - -;l TensorListReserve h,n -;y TensorListPushBack l,x -",
      "f[2]", "!the list does not come from EmptyTensorList" },
    { "x ?f[2] - -;n i_2 - -;h i[9]_1 - -;l TensorListReserve h,n -;i i_1 - -;"
      "s TensorListSetItem l,i,x -;y TensorListGetItem s,i,h -", "f[2] 5 6", "f[2] 5 6" },
    { "x ?f[2] - -;n i_2 - -;h i[1]_2 - -;l TensorListReserve h,n -;i i_1 - -;"
      "s TensorListSetItem l,i,x -;y TensorListStack s,h -", "f[2] 5 6", "f[2,2] 0 0 5 6" },
    { "x ~f[2] - -;h i - -;l TensorListFromTensor x,h -;y TensorListLength l -", "f[3]", "i 3" },
    { "x ?f[2] - -;h i - -;l TensorListFromTensor x,h -;y TensorListLength l -", "f[2]", "i 2" },
    { "x ?f - -;h i - -;l TensorListFromTensor x,h -;y TensorListLength l -", "f 1", "!" },
    { "x ?f[2] - -;y TensorListLength x -", "f[2]", "!input 0 is not a tensor list" },
    { "x ?f[2] - -;n i - -;h i[1]_2 - -;l EmptyTensorList h,n -;y AddV2 l,x -", "f[2]",
      "!a tensor list stands where a tensor is expected" },
};

/* -------------------------------------------------------------------- sizes -- */

/* Part of the sizes [2,3,4,5] of x: from b to e in steps of t. */
#define SLICE(b, e, t, masks) \
    "x ?f[2,3,4,5] - -;s Shape x -;b " b " - -;e " e " - -;t " t " - -;" \
    "y StridedSlice s,b,e,t " masks
/* The same of sizes that are not known while the graph is read; d is the first of them. */
#define OPEN_SLICE(b, e, masks) \
    "x ~f[2,3,4,5] - -;s Shape x -;z i[1]_0 - -;t i[1]_1 - -;o i[1]_4 - -;" \
    "d StridedSlice s,z,t,t -;y StridedSlice s," b "," e ",t " masks

/* Parts of sizes that are known while the graph is read. */
#define SIZES "x ?f[2,3] - -;s Shape x -;z i[1]_0 - -;o i[1]_1 - -;k i[2]_2_7 - -;"

static const program slices[] = {
    { SIZES "i i - -;y ConcatV2 s,s,i -", "f[2,3]", "i[4] 2 3 2 3" },
    { SIZES "a StridedSlice s,z,o,o shrink_axis_mask=1;y Pack a,a -", "f[2,3]", "i[2] 2 2" },
    { SIZES "i i - -;y GatherV2 s,o,i -", "f[2,3]", "i[1] 3" },
    { SIZES "y AddV2 s,k -", "f[2,3]", "i[2] 4 10" },
    { SIZES "y Sub s,k -", "f[2,3]", "i[2] 0 -4" },
    { SIZES "y Mul s,k -", "f[2,3]", "i[2] 4 21" },
    { SIZES "y FloorDiv k,s -", "f[2,3]", "i[2] 1 2" },
    { SIZES "y Minimum s,k -", "f[2,3]", "i[2] 2 3" },
    { SIZES "y Maximum s,k -", "f[2,3]", "i[2] 2 7" },
    { SIZES "l Cast s DstT=:int64;b l[1]_4294967296 - -;y Mul l,b -", "f[2,3]",
      "l[2] 8589934592 12884901888" },
    { SIZES "y Cast s DstT=:int64", "f[2,3]", "l[2] 2 3" },
    { SIZES "y Prod s,z -", "f[2,3]", "i 6" },
    { SIZES "i i - -;p Prod s,z -;y ExpandDims p,i -", "f[2,3]", "i[1] 6" },
    { SIZES "p Prod s,z keep_dims=true;y Squeeze p -", "f[2,3]", "i 6" },
    { SIZES "h i[1]_-1 - -;p Prod s,z -;y Reshape p,h -", "f[2,3]", "i[1] 6" },
    { "x ?f - -;s Shape x -;i i[0] - -;z i - -;y GatherV2 s,i,z -", "f 1", "i[0]" },
    { "x ?f - -;s Shape x -;b i[1]_0 - -;t i[1]_1 - -;y StridedSlice s,b,t,t -", "f 1", "i[0]" },
    { "x ?f - -;s Shape x -;z i[1]_0 - -;y Prod s,z -", "f 1", "i 1" },
    { SLICE("i[1]_1", "i[1]_3", "i[1]_1", "-"), "f[2,3,4,5]", "i[2] 3 4" },
    { SLICE("i[1]_-3", "i[1]_-1", "i[1]_1", "-"), "f[2,3,4,5]", "i[2] 3 4" },
    { SLICE("i[1]_-100", "i[1]_3", "i[1]_2", "-"), "f[2,3,4,5]", "i[2] 2 4" },
    { SLICE("i[1]_0", "i[1]_100", "i[1]_3", "-"), "f[2,3,4,5]", "i[2] 2 5" },
    { SLICE("i[1]_3", "i[1]_0", "i[1]_-1", "-"), "f[2,3,4,5]", "i[3] 5 4 3" },
    { SLICE("i[1]_100", "i[1]_-100", "i[1]_-2", "-"), "f[2,3,4,5]", "i[2] 5 3" },
    { SLICE("i[1]_1", "i[1]_1", "i[1]_-1", "begin_mask=1,end_mask=1"), "f[2,3,4,5]",
      "i[4] 5 4 3 2" },
    { SLICE("i[1]_2", "i[1]_1", "i[1]_1", "begin_mask=1,end_mask=1"), "f[2,3,4,5]",
      "i[4] 2 3 4 5" },
    { SLICE("i[1]_2", "i[1]_2", "i[1]_1", "-"), "f[2,3,4,5]", "i[0]" },
    { SLICE("i[1]_9", "i[1]_12", "i[1]_1", "-"), "f[2,3,4,5]", "i[0]" },
    { SLICE("i[1]_-9", "i[1]_-12", "i[1]_-1", "-"), "f[2,3,4,5]", "i[0]" },
    { SLICE("i[1]_1", "i[1]_4", "i[1]_2147483647", "-"), "f[2,3,4,5]", "i[1] 3" },
    { SLICE("i[1]_2", "i[1]_0", "i[1]_-2147483647", "-"), "f[2,3,4,5]", "i[1] 4" },
    { SLICE("i[1]_-1", "i[1]_0", "i[1]_1", "shrink_axis_mask=1"), "f[2,3,4,5]", "i 5" },
    { SLICE("i[1]_2", "i[1]_3", "i[1]_1", "shrink_axis_mask=1,begin_mask=1"), "f[2,3,4,5]", "i 4" },
    { SLICE("i[1]_-4", "i[1]_0", "i[1]_1", "-"), "f[2,3,4,5]", "i[0]" },
    { SLICE("i[1]_3", "i[1]_-5", "i[1]_-1", "-"), "f[2,3,4,5]", "i[4] 5 4 3 2" },
    { SLICE("i[1]_0", "i[1]_-4", "i[1]_-1", "-"), "f[2,3,4,5]", "i[0]" },
};

static const program sizes[] = {
    { SLICE("i[1]_4", "i[1]_5", "i[1]_1", "shrink_axis_mask=1"), "f[2,3,4,5]", "!Slice" },
    { SLICE("i[1]_1", "i[1]_2", "i[1]_0", "-"), "f[2,3,4,5]", "!stride" },
    { SLICE("i[1]_2", "i[1]_0", "f[1]_-1", "-"), "f[2,3,4,5]", "i[2] 4 3" },
    { SLICE("l[1]_1", "l[1]_3", "l[1]_4611686018427387904", "-"), "f[2,3,4,5]", "i[1] 3" },
    { SLICE("l[1]_1", "l[1]_3", "l[1]_9223372036854775807", "-"), "f[2,3,4,5]", "i[1] 3" },
    { SLICE("l[1]_2", "l[1]_0", "l[1]_-4611686018427387904", "-"), "f[2,3,4,5]", "i[1] 4" },
    { SLICE("i[2]_0_1", "i[2]_0_2", "i[2]_1_1", "new_axis_mask=1,shrink_axis_mask=2"), "f[2,3,4,5]",
      "i[1] 3" },
    { SLICE("i[1]_1", "i[1]_2", "i[1]_1", "ellipsis_mask=1"), "f[2,3,4,5]", "i[4] 2 3 4 5" },
    { "x ~f[2,3] - -;s Shape x -;k i_3 - -;b i[1]_0 - -;o i[1]_1 - -;m i[1]_-1 - -;e i[1]_-3 - -;"
      "d StridedSlice s,b,o,o shrink_axis_mask=1;p Pack d,k -;"
      "n StridedSlice p,m,e,m ellipsis_mask=1;y Reshape x,n -",
      "f[2,3] 1 2 3 4 5 6", "f[2,3] 1 2 3 4 5 6" },
    { OPEN_SLICE("d", "o", "-"), "f[2,3,4,5]", "i[2] 4 5" },
    { "x ?i[1] - -;k f[2,3] - -;s Shape k -;e i[1]_1 - -;y StridedSlice s,x,e,e shrink_axis_mask=1",
      "i[1] 1", "i 3" },
    { OPEN_SLICE("t", "d", "-"), "f[3,3,4,5]", "i[2] 3 4" },
    { OPEN_SLICE("t", "o", "-"), "f[2,3,4,5]", "i[3] 3 4 5" },
    { OPEN_SLICE("z", "d", "-"), "f[2,3,4,5]", "i[2] 2 3" },
    { "x ~f[2,3] - -;s Shape x -;k i_3 - -;z i - -;o i[1]_1 - -;b i[1]_0 - -;"
      "d StridedSlice s,b,o,o shrink_axis_mask=1;p Pack d,k -;i Identity p -;y Reshape x,i -",
      "f[2,3] 1 2 3 4 5 6", "f[2,3] 1 2 3 4 5 6" },
    { "x ?f[2,3] - -;s Shape x -;z i[1] - -;q Prod s,z keep_dims=true;y Reshape x,q -",
      "f[2,3] 1 2 3 4 5 6", "f[6] 1 2 3 4 5 6" },
    { "x ?f[2,3] - -;s Shape x -;z i[0] - -;y Prod s,z -", "f[2,3]", "i[2] 2 3" },
    { "x ?f[2,3] - -;s Shape x -;i i[1]_7 - -;z i - -;g GatherV2 s,i,z -;y Reshape x,g -",
      "f[2,3]", "!index 7 is outside of 2 elements" },
    { "x ?f[2,3] - -;s Shape x -;i i[1]_-1 - -;z i - -;g GatherV2 s,i,z -;y Reshape x,g -",
      "f[2,3]", "!index -1 is outside of 2 elements" },
    { "x ~f[2,3] - -;s Shape x -;i i[1]_1 - -;z i - -;g GatherV2 s,i,z -;h GatherV2 s,g,z -;"
      "o i[1]_-1 - -;c ConcatV2 h,o,z -;y Reshape x,c -", "f[2,1] 5 6", "f[1,2] 5 6" },
    { "x ?f[2] - -;h i[65]_1 - -;y Reshape x,h -", "f[2]", "!the shape has more than 64 numbers" },
    { "x ?f[2] - -;h i[9]_1 - -;y Tile x,h -", "f[2]", "!the multiples has more than 8 numbers" },
    { "x ?f[2] - -;h i[9]_1 - -;y BroadcastTo x,h -", "f[2]", "!" },
};

static void check(const program *p)
{
    const text_graph g = text_graph_of(p->text);
    message          m = text_graph_message(&g);
    check_program(p, NULL, &m, NULL);
    message_free(&m);
}

/* The call of a function of which a node is not known. */
START_TEST(unknown_in_a_function)
{
    const text_graph g = text_graph_of("x ?f[2] - -;q PartitionedCall x f=@f;y Neg q -"
                                       "|f:a:r;r Nothing a -");
    message            m = text_graph_message(&g);
    eddy_error         e = { 0 };
    eddy_model_report *r = eddy_tensorflow_check(.data = m.at, .data_size = m.size, .error = &e);
    int                calls = 0;
    ck_assert_msg(r != NULL, "%s", e.message);
    for (int i = 0; i < eddy_model_report_size(r); i++) {
        const eddy_model_entry *at = eddy_model_report_at(r, i);
        if (strcmp(at->op, "PartitionedCall") != 0) continue;
        ck_assert_int_eq(at->support, EDDY_MODEL_MISSING);
        ck_assert_msg(strstr(at->reason, "cannot be built") != NULL, "%s", at->reason);
        calls++;
    }
    ck_assert_int_eq(calls, 1);
    eddy_model_report_free(r);
    message_free(&m);
}
END_TEST

START_TEST(control_flow) { check(&control[_i]); }
END_TEST

START_TEST(loop) { check(&loops[_i]); }
END_TEST

START_TEST(array) { check(&arrays[_i]); }
END_TEST

START_TEST(size) { check(&sizes[_i]); }
END_TEST

START_TEST(slice)
{
    const text_graph       t = text_graph_of(slices[_i].text);
    message                bytes = text_graph_message(&t);
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m =
        eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size, .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    const eddy_array *y = eddy_constant_value(eddy_tensorflow_output(m, "y"));
    ck_assert_msg(y != NULL, "%s: it is not known", slices[_i].text);
    compare(slices[_i].text, y, slices[_i].y);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    message_free(&bytes);
    check(&slices[_i]);
}
END_TEST

START_TEST(statuses)
{
    static const struct { const char *text; eddy_status status; } rows[] = {
        { "x ?f[2] - -;y Nothing x -", EDDY_UNIMPLEMENTED },
        { "x ?f[2] - -;y Case x,x -", EDDY_UNIMPLEMENTED },
        { "x ?f[2] - -;y If - -", EDDY_INVALID_ARGUMENT },
        { "x ?f[2] - -;y PartitionedCall x f=@f", EDDY_INVALID_ARGUMENT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const text_graph t = text_graph_of(rows[i].text);
        message          m = text_graph_message(&t);
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        ck_assert_ptr_null(eddy_tensorflow_read(g, .data = m.at, .data_size = m.size, .error = &e));
        ck_assert_msg(e.status == rows[i].status, "%s: %s", rows[i].text, e.message);
        eddy_graph_free(g);
        message_free(&m);
    }
}
END_TEST

Suite *tensorflow_programs_suite(void)
{
    Suite *s = suite_create("tensorflow_programs");
    TCase *t = tcase_create("programs");
    tcase_add_test(t, unknown_in_a_function);
    tcase_add_loop_test(t, control_flow, 0, sizeof control / sizeof *control);
    tcase_add_loop_test(t, loop, 0, sizeof loops / sizeof *loops);
    tcase_add_loop_test(t, array, 0, sizeof arrays / sizeof *arrays);
    tcase_add_loop_test(t, slice, 0, sizeof slices / sizeof *slices);
    tcase_add_loop_test(t, size, 0, sizeof sizes / sizeof *sizes);
    tcase_add_test(t, statuses);
    suite_add_tcase(s, t);
    return s;
}
