"""Reads an event file without any code of Eddy: records with checksums computed bit by bit, and
messages by Python's protobuf from descriptors written here after TensorFlow's event.proto,
summary.proto, step_stats.proto and graph.proto. Prints what is in it as JSON, a line each event."""
import base64, json, struct, sys
from google.protobuf import descriptor_pb2, descriptor_pool, json_format

try:
    from google.protobuf.message_factory import GetMessageClass
except ImportError:
    from google.protobuf.message_factory import MessageFactory
    def GetMessageClass(descriptor):
        return MessageFactory().GetPrototype(descriptor)

T = descriptor_pb2.FieldDescriptorProto
KINDS = {"double": T.TYPE_DOUBLE, "float": T.TYPE_FLOAT, "int64": T.TYPE_INT64, "int32": T.TYPE_INT32,
         "string": T.TYPE_STRING, "bytes": T.TYPE_BYTES, "bool": T.TYPE_BOOL}
MESSAGES = {
    "Image": "1 int32 height; 2 int32 width; 3 int32 colorspace; 4 bytes encoded_image_string",
    "Histogram": "1 double min; 2 double max; 3 double num; 4 double sum; 5 double sum_squares; "
                 "6 double* bucket_limit; 7 double* bucket",
    "Dim": "1 int64 size; 2 string name",
    "Shape": "2 Dim* dim; 3 bool unknown_rank",
    "Tensor": "1 int32 dtype; 2 Shape tensor_shape; 4 bytes tensor_content; 5 float* float_val; "
              "8 bytes* string_val",
    "PluginData": "1 string plugin_name; 2 bytes content",
    "Metadata": "1 PluginData plugin_data; 2 string display_name",
    "Value": "1 string tag; 2 float simple_value; 4 Image image; 5 Histogram histo; 8 Tensor tensor; "
             "9 Metadata metadata",
    "Summary": "1 Value* value",
    "TaggedRunMetadata": "1 string tag; 2 bytes run_metadata",
    "Event": "1 double wall_time; 2 int64 step; 3 string file_version; 4 bytes graph_def; "
             "5 Summary summary; 8 TaggedRunMetadata tagged_run_metadata",
    "List": "7 Shape* shape",
    "Attr": "1 List list",
    "Entry": "1 string key; 2 Attr value",
    "Node": "1 string name; 2 string op; 3 string* input; 4 string device; 5 Entry* attr",
    "Versions": "1 int32 producer",
    "Graph": "1 Node* node; 4 Versions versions",
    "Memory": "1 string allocator_name; 2 int64 total_bytes; 3 int64 peak_bytes",
    "NodeStats": "1 string node_name; 2 int64 all_start_micros; 3 int64 op_start_rel_micros; "
                 "4 int64 op_end_rel_micros; 5 int64 all_end_rel_micros; 6 Memory* memory; "
                 "8 string timeline_label",
    "Device": "1 string device; 2 NodeStats* node_stats",
    "Stats": "1 Device* dev_stats",
    "RunMetadata": "1 Stats step_stats",
    "HValue": "2 double number_value; 3 string string_value",
    "HEntry": "1 string key; 2 HValue value",
    "Start": "1 HEntry* hparams; 4 string group_name; 5 double start_time_secs",
    "MetricName": "1 string group; 2 string tag",
    "MetricInfo": "1 MetricName name",
    "HInfo": "1 string name; 4 int32 type",
    "Experiment": "4 HInfo* hparam_infos; 5 MetricInfo* metric_infos",
    "HParams": "1 int32 version; 2 Experiment experiment; 3 Start session_start_info",
}


def classes():
    file = descriptor_pb2.FileDescriptorProto(name="events.proto", syntax="proto3", package="e")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split("; "):
            number, kind, label = field.split()
            many = kind.endswith("*")
            kind = kind.rstrip("*")
            to = message.field.add(name=label, number=int(number),
                                   label=T.LABEL_REPEATED if many else T.LABEL_OPTIONAL)
            if kind in KINDS:
                to.type = KINDS[kind]
            else:
                to.type, to.type_name = T.TYPE_MESSAGE, ".e." + kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {n: GetMessageClass(pool.FindMessageTypeByName("e." + n)) for n in MESSAGES}


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    at = 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8]), "the checksum of a length"
        body = data[at + 12:at + 12 + length]
        assert len(body) == length, "a cut record"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), "a checksum"
        at += 16 + length
        yield body


def check_png(data, height, width, channels):
    import zlib
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, idat = 8, b""
    while at < len(data):
        n, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + n]
        assert struct.unpack_from(">I", data, at + 8 + n)[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            assert struct.unpack(">IIBBBBB", body) == (width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
        if kind == b"IDAT":
            idat += body
        at += 12 + n
    lines = zlib.decompress(idat)
    assert len(lines) == height * (1 + width * channels)
    return [list(lines[y * (1 + width * channels) + 1:(y + 1) * (1 + width * channels)])
            for y in range(height)]


def main():
    C = classes()

    def show(kind, data):
        m = C[kind].FromString(data)
        return json_format.MessageToDict(m, preserving_proto_field_name=True)

    for body in records(open(sys.argv[1], "rb").read()):
        event = show("Event", body)
        assert event.pop("wall_time") > 1.6e9
        if "graph_def" in event:
            event["graph_def"] = show("Graph", base64.b64decode(event["graph_def"]))
        tagged = event.get("tagged_run_metadata")
        if tagged:
            tagged["run_metadata"] = show("RunMetadata", base64.b64decode(tagged["run_metadata"]))
        for value in event.get("summary", {}).get("value", []):
            image = value.get("image")
            if image:
                image["pixels"] = check_png(base64.b64decode(image.pop("encoded_image_string")),
                                            image["height"], image["width"], image["colorspace"])
            histogram = value.get("histo")
            if histogram:
                assert sum(histogram["bucket"]) == histogram.get("num", 0)
                assert histogram["bucket_limit"] == sorted(histogram["bucket_limit"])
                assert len(histogram["bucket_limit"]) == len(histogram["bucket"])
            plugin = value.get("metadata", {}).get("plugin_data", {})
            if plugin.get("plugin_name") == "hparams":
                plugin["content"] = show("HParams", base64.b64decode(plugin["content"]))
            strings = value.get("tensor", {}).get("string_val")
            if strings:
                value["tensor"]["string_val"] = [base64.b64decode(s).decode() for s in strings]
        print(json.dumps(event, sort_keys=True))


main()
