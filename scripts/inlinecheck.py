"""Builds the extensions of scripts/inline by PyTorch alone, and gets the exact bits that they return, for
eval-check."""

import base64
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent / "inline"
LONGEST = ("with_headers", "cub_block", "templates", "streams")  # take longest to compile, and so come first
SIZE = 4096

# Appended to each source: prints the build log, which only the site writes, and returns the answer as bytes.
BITS = '''

class Bits(ModelNew):
    def __init__(self):
        super().__init__()
        import os
        import pathlib
        for log in pathlib.Path(os.environ.get("TORCH_EXTENSIONS_DIR", "/nowhere")).rglob("warpboard.log"):
            print(*(f"{log.parent.name}: {line}" for line in log.read_text().splitlines()), sep="\\n", flush=True)

    def forward(self, x, y):
        made = super().forward(x, y)
        parts = made if isinstance(made, (list, tuple)) else [made]
        return torch.cat([part.contiguous().flatten().view(torch.uint8) for part in parts])
'''
ANSWER = '''import base64
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bits", torch.frombuffer(bytearray(base64.b64decode("{}")), dtype=torch.uint8))

    def forward(self, x, y):
        return self.bits.clone()
'''
PLAIN = '''import base64, importlib.util, json, sys, time
import torch
began = time.monotonic()
spec = importlib.util.spec_from_file_location("kernel", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
seconds = time.monotonic() - began
device = "cuda" if torch.cuda.is_available() else "cpu"
values = [torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float32).to(device) for text in json.load(sys.stdin)]
with torch.no_grad():
    bits = bytes(module.Bits()(*values).cpu().tolist())
print(json.dumps({"seconds": seconds, "torch": torch.__version__, "bits": base64.b64encode(bits).decode()}))
'''
# PyTorch alone compiles cpp_sources with g++, which does not accept <<<>>>, so there the C++ source becomes a CUDA
# source.
SITES_LAYOUT = "cpp_sources=[CPP], cuda_sources=[CUDA]"
PLAIN_LAYOUT = 'cpp_sources=["torch::Tensor run(torch::Tensor x, torch::Tensor y);"], cuda_sources=[CUDA, CPP]'


def names():
    found = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [*LONGEST, *(name for name in found if name not in LONGEST)]


def source(name):
    return (FOLDER / f"{name}.py").read_text() + BITS


def kind(text):
    """Returns the kernel_type for an evaluation: torch_cuda if load_inline has cuda_sources, else torch."""
    return "torch_cuda" if "cuda_sources=" in text else "torch"


def says(text):
    """Returns the description of a source, which is its first line."""
    return text.partition("\n")[0].strip('"')


def data():
    """Returns the bytes of both inputs in base64, which are the same in every call and for both builds."""
    draw = random.Random(33)
    return [base64.b64encode(struct.pack(f"<{SIZE}f", *(draw.uniform(-2, 2) for _ in range(SIZE)))).decode() for _ in "xy"]


def reference(bits):
    """Returns the source of a torch module that returns these bits."""
    return ANSWER.format(bits)


def flipped(bits):
    """Returns the bits with one bit in the middle inverted."""
    raw = bytearray(base64.b64decode(bits))
    raw[len(raw) // 2] ^= 1
    return base64.b64encode(raw).decode()


def plain(name):
    """Compiles and runs an extension by python3, outside of any sandbox. Returns {"seconds", "torch", "bits"}, or
    {"error"}."""
    python = shutil.which("python3")
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        path = pathlib.Path(folder, f"{name}.py")
        path.write_text(source(name).replace(SITES_LAYOUT, PLAIN_LAYOUT))
        env = {key: value for key, value in os.environ.items() if key != "TORCH_CUDA_ARCH_LIST"}
        env |= {"TORCH_EXTENSIONS_DIR": os.path.join(folder, "extensions"), "TMPDIR": folder, "MAX_JOBS": "2",
                "PATH": f"{os.path.dirname(python)}:{env['PATH']}"}  # ninja is in the folder of python3
        try:
            done = subprocess.run([python, "-c", PLAIN, str(path)], env=env, cwd=folder, input=json.dumps(data()), capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return {"error": "no end after 300 s"}
    if done.returncode:
        return {"error": (done.stdout + done.stderr)[-3000:]}
    return json.loads(done.stdout.splitlines()[-1])


def compiled(name, stdout):
    """Returns how the site compiled the sources (with few or all of torch's headers, and the seconds), from the build
    log that the extension prints, such as "main.cpp few 14.1, cuda.cu all 60.2"."""
    lines = [line.removeprefix(f"{name}: ") for line in stdout.splitlines() if line.startswith(f"{name}: ")]
    found = [re.match(r"(\S+): compiled by \S+ with (the|all) .*? in ([\d.]+) s", line) for line in lines]
    return ", ".join(f"{f[1]} {'few' if f[2] == 'the' else 'all'} {f[3]}" if f else line[:60] for f, line in zip(found, lines))
