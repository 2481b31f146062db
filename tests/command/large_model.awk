# large_model.awk -- prints a graph of 10,000 nodes: 48 layers of an encoder, and a head.
#   awk -f tests/command/large_model.awk
function node(name, op, inputs) {
    printf "- name: %s\n  op: %s\n", name, op
    if (op == "Placeholder") print "  attributes:\n    dtype: float32\n    shape: \"[?,64]\""
    else printf "  inputs: [\"%s:0\"%s]\n", last, inputs
    print "  outputs: [\"float32[?,64]\"]"
    last = name
    count++
}
BEGIN {
    print "format: eddy-graph\nversion: 1\nseed: 1\nfinalized: false\nnodes:"
    node("x", "Placeholder")
    for (layer = 0; layer < 48; layer++) {
        scope = "encoder/layer_" layer
        skip = last
        for (part = 0; part < 4; part++)
            for (i = 0; i < 50; i++) node(scope "/part_" part "/Tanh_" i, "Tanh")
        node(scope "/Add", "Add", ", \"" skip ":0\"")
    }
    while (count < 10000) node("head/Tanh_" count, "Tanh")
}
