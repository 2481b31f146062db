/* state.c -- constants, variables and effects. An update yields the new value of its variable; in
 * the body of a loop, where a variable is a carried value, it is the same function. */
#include "../rules.h"

static bool pass(onnx_part *p) { return eddy__part_put(p, 0, eddy__part_in(p, 0)); }

static bool constant(onnx_part *p)
{
    eddy_array *const *a = p->node->attrs;
    return eddy__part_put(p, 0, eddy__part_array(p, *a));
}

static bool placeholder(onnx_part *p)
{
    return eddy__part_missing(p, "it is neither an input nor fed");
}

static bool no_effect(onnx_part *p)
{
    (void)p;
    return true;
}

static bool assign(onnx_part *p) { return eddy__part_put(p, 0, eddy__part_in(p, 1)); }

static bool is_initialized(onnx_part *p)
{
    return eddy__part_put(p, 0, eddy__part_number(p, EDDY_BOOL, 1));
}

static const onnx_row rows[] = {
    { "Const", constant },
    { "Placeholder", placeholder },
    { "Argument", placeholder },
    { "Variable", placeholder },
    { "NoOp", no_effect },
    { "Assert", no_effect },
    { "AssertRank", no_effect },
    { "AssertShapes", no_effect },
    { "Ensure", pass },
    { "CheckNumerics", pass },
    { "Print", pass },
    { "ReadVariable", pass },
    { "LatestValue", pass },
    { "InitializedValue", pass },
    { "IsVariableInitialized", is_initialized },
    { "Assign", assign },
    { "AssignAdd", .formula = "Add(a, b)" },
    { "AssignSub", .formula = "Sub(a, b)" },
};

const onnx_family eddy__write_state = FAMILY_OF(rows);
