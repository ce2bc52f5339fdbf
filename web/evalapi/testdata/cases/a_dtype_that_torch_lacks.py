# body: {"kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [16], "dtype": "float4_e2m1fn_x2"}}]}, "metadata": {"entry_point": "run"}}}
# want: {"compiled": false, "compilation_error": "~on this device has no float4_e2m1fn_x2; it has float64, "}
# kernel: multi_kernel
def run(x):
    return x
