"""Shared code of the checks on a GPU machine: it starts a server, calls its API, and prints a table."""

import argparse
import concurrent.futures
import copy
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT_IN_CUDA = len(list((ROOT / "tasks" / "examples").glob("*_cuda")))
STAGES = ("build", "test", "benchmark", "ranked", "secret", "profile", "sanitize")


def script(name):
    """Imports another script of this folder as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Site:
    """A server that the check starts, and calls of its API."""

    def __init__(self, binary, extra=(), cpu_slots=0):
        self.data = tempfile.mkdtemp(prefix="gpu-check-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{s.getsockname()[1]}"
        self.log = open(os.path.join(self.data, "server.log"), "w+b")
        self.process = subprocess.Popen(
            [binary, "serve", "--addr", self.url.removeprefix("http://"), "--data", self.data, "--cpu-slots", str(cpu_slots), *extra],
            stdout=self.log, stderr=subprocess.STDOUT)
        self.wait()
        self.binary = binary
        self.token = self.caller("gpu-check").token

    def caller(self, user):
        """Returns the same site with the token of another administrator."""
        made = subprocess.run([self.binary, "token", "--data", self.data, "--user", user, "--role", "admin"],
                              check=True, capture_output=True, text=True)
        site = copy.copy(self)
        site.token = made.stdout.strip()
        return site

    def wait(self):
        for _ in range(600):
            try:
                return urllib.request.urlopen(self.url + "/healthz", timeout=5).read()
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None:
                    sys.exit("the server ended:\n" + self.tail())
                time.sleep(0.1)
        sys.exit("the server did not answer within 60 s:\n" + self.tail())

    def tail(self, size=6000):
        """Returns the last size characters of the server's log, or all of it for None, without lines about requests."""
        text = pathlib.Path(self.log.name).read_text(errors="replace")
        return "".join(line for line in text.splitlines(True) if "msg=request" not in line)[-(size or len(text)):]

    def ask(self, path, body=None):
        request = urllib.request.Request(
            self.url + "/api/v1" + path, method="POST" if body is not None else "GET",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Accept": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error} {error.read().decode(errors='replace')}") from None

    def get(self, path):
        """Returns the JSON of a page, which is read without a token."""
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def settle(self, tasks, limit=120, quiet=20):
        """Waits until this number of tasks is precompiled, as on a site that has run for a minute. The log does not
        report a task whose sources the self-test has compiled, so quiet seconds without a report are enough after the
        first one."""
        began = time.monotonic()
        ready, last = 0, began
        while ready < tasks and time.monotonic() - began < limit and (not ready or time.monotonic() - last < quiet):
            time.sleep(0.2)
            log = self.tail(None)
            if (now := log.count("task precompiled") + log.count("task not precompiled")) != ready:
                ready, last = now, time.monotonic()
        print(f"{ready} of {tasks} CUDA tasks precompiled after {time.monotonic() - began:.1f} s", flush=True)
        print("".join(line for line in log.splitlines(True) if "task not precompiled" in line), end="", flush=True)

    def save(self, path, file):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            pathlib.Path(file).write_bytes(answer.read())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def mode_of(expected):
    """Returns the mode in which a file with this expected result is run."""
    return expected if expected in ("profile", "sanitize") else "ranked"


def run(site, task, device, path, mode="ranked", limit=600):
    """Submits one file and waits for the end of its run. Returns (run, seconds)."""
    began = time.monotonic()
    if mode == "sanitize":  # all tools together may take ten minutes
        limit = max(limit, 720)
    sub = site.ask("/submissions", {"task": task, "devices": [device], "mode": mode,
                                    "file_name": path.name, "source": path.read_text()})
    while not sub["ended"]:
        if time.monotonic() - began > limit:
            return {"state": "timeout", "stages": [], "failure": {"reason": f"no end after {limit:.0f} s"}}, time.monotonic() - began
        time.sleep(0.05)
        sub = site.ask(f"/submissions/{sub['id']}")
    return sub["runs"][0] | {"submission": sub["id"]}, time.monotonic() - began


def seconds(stage):
    """Returns the seconds that a stage took, from its times in RFC 3339."""
    def parse(text):
        head, _, rest = text.partition("T")
        clock = rest.rstrip("Z").split(":")
        return int(clock[0]) * 3600 + int(clock[1]) * 60 + float(clock[2])
    return (parse(stage["ended"]) - parse(stage["started"])) % 86400


def show(rows, header):
    widths = [max(len(str(r[i])) for r in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * w for w in widths], *rows]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())


def keep(site, folder, name, path, run):
    """Saves the page of a profile in several formats, and its report, in a folder."""
    to = pathlib.Path(folder)
    to.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{path.stem}"
    page = f"/submissions/{run['submission']}/runs/{run['id']}/profile"
    for ending, file in (("", "html"), (".json", "json"), (".csv", "csv"), (".ncu-rep", "ncu-rep")):
        site.save(page + ending, to / f"{stem}.{file}")


def show_profile(site, run):
    """Prints the kernels that each case of a profile launched, and the times of the profiled processes."""
    stage = next(s for s in run["stages"] if s["stage"] == "profile")
    for line in (stage.get("stderr") or "").splitlines():
        if line.startswith("==WARPBOARD=="):
            print("   ", line.removeprefix("==WARPBOARD== "))
    for case in stage["cases"]:
        if case["status"] != "pass":
            print(f"    case {case['index']}: {case.get('message')}")
            continue
        answer = site.get(f"/submissions/{run['submission']}/runs/{run['id']}/profile.json?case={case['index']}")
        kernels = [f"{k['short']} {tuple(k['grid'])}" for k in answer["report"]["kernels"]]
        print(f"    case {case['index']} ({case['spec']}): {', '.join(kernels)}", flush=True)


def as_planted(path, run):
    """Returns True if compute-sanitizer found only the error in a kernel of scripts/planted: with the tool in the
    file's name, at the line with "planted:". Prints the findings."""
    stage = next((s for s in run["stages"] if s["stage"] == "sanitize"), {})
    tool = path.stem.partition("_")[0]
    lines = [number for number, line in enumerate(path.read_text().splitlines(), 1) if "planted:" in line]
    for case in stage.get("cases") or []:
        print(f"    {case['spec']}: {case['status']} {case.get('message', '')}")
    errors = [f for f in stage.get("findings") or [] if not f.get("warning")]
    states = {case["spec"]: case["status"] for case in stage.get("cases") or []}
    wanted = {name: "fail" if name == tool else "pass" for name in ("memcheck", "synccheck", "initcheck", "racecheck")}
    right = all(f["tool"] == tool and f.get("kernel", "").startswith("add") and (not lines or f.get("line") in lines) for f in errors)
    return states == wanted and right and bool(errors) == (tool != "none")


def row_of(task, path, expected, result, wall):
    stages = {s["stage"]: s for s in result["stages"]}
    times = [f"{seconds(stages[name]):.2f}" if name in stages else "" for name in STAGES]
    score = f"{result['score_ns'] / 1e3:.2f} µs" if result.get("score_ns") else ""
    good = as_planted(path, result) if expected == "sanitize" else (result["state"] == "done") == (expected not in ("wrong", "faulty"))
    reason = (result.get("failure") or {}).get("reason", "").splitlines()
    notes = [c["numerics"]["note"] for c in stages.get("test", {}).get("cases") or [] if c.get("numerics", {}).get("note")]
    if notes:  # a note means that the task's reference in double precision is faulty
        good, reason = False, notes
    off = f"{result['error_ulp']:.3g}" if "error_ulp" in result else ""
    where = next((s["stage"] for s in result["stages"] if s["status"] != "pass"), "")
    return [task, path.name, expected, result["state"], "ok" if good else "WRONG", score, off, f"{wall:.2f}", *times, where, (reason or [""])[0][:70]], good


def gpu_names():
    """Returns the names of this machine's GPUs, as nvidia-smi prints them."""
    if not shutil.which("nvidia-smi"):
        return []
    return subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True).stdout.splitlines()


def gpus():
    """Returns the number of this machine's GPUs."""
    return len(gpu_names())


def own_device():
    """Returns the site's name of this machine's first GPU, such as H100, or CPU if it has none."""
    found = re.search(r"[A-Z]+ ?[0-9]+", "".join(gpu_names()[:1]))
    return found.group().replace(" ", "") if found else "CPU"


def arguments(doc):
    """Returns a parser with the options that all checks have."""
    options = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("binary")
    options.add_argument("--device", default=own_device(), help="the GPU's name on the site; default: this machine's, here %(default)s")
    options.add_argument("--only", default="", help="names of tasks (eval-check: of cases, extensions, or kernels of itself), separated by commas")
    options.add_argument("--keep", default="", help="folder for the pages and reports of profiles")
    options.add_argument("--json", default="", help="file for everything that was learned")
    options.add_argument("--processes", type=int, default=0, help="most fresh processes of a submission; 0: the site's own number")
    options.add_argument("--at-once", type=int, default=1, help="submissions at the same time, for machines with several GPUs")
    options.add_argument("--server", default="", help="further options of the server, as in --server='--warm 2'")
    return options


def server_options(args):
    """Returns the server's options that the arguments request."""
    return [*(["--ranked-processes", str(args.processes)] if args.processes else []), *args.server.split()]


def check(args, batches):
    """Runs batches of (options of the server, CUDA tasks it has, work) and prints one table; returns the exit status.

    Work is a sequence of (task slug, file, expected, shown name). expected is "right", "wrong" or "faulty" for a ranked
    run, or "profile" or "sanitize" for a run in this mode. At most --at-once runs are made at the same time.
    """
    rows, raw = [], []

    def one(site, slug, path, expected, name):
        result, wall = run(site, slug, args.device, path, mode_of(expected))
        row, good = row_of(name, path, expected, result, wall)
        rows.append(row)
        raw.append({"task": name, "file": path.name, "expected": expected, "good": good, "wall": wall, "run": result})
        print(" ".join(map(str, row)), flush=True)
        if good and expected == "profile":
            show_profile(site, result)
        if good and args.keep and expected == "profile":
            keep(site, args.keep, name, path, result)

    for extra, compiled, work in batches:
        site = Site(os.path.abspath(args.binary), [*extra, *server_options(args)])
        before = len(rows)
        try:
            if compiled:
                site.settle(compiled)
            with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
                list(pool.map(lambda job: one(site, *job), work))
        finally:
            site.stop()
            if len(rows) == before or not all(r["good"] for r in raw[before:]):
                print(site.tail())
            if args.json:
                pathlib.Path(args.json).write_text(json.dumps(raw))
    print()
    show(rows, ["task", "file", "expected", "state", "verdict", "score", "ULP", "wall s", *STAGES, "ended at", "reason"])
    machine = next((r["run"].get("machine") for r in raw if r["run"].get("machine")), {})
    bad = sum(not r["good"] for r in raw)
    print("\nmachine:", json.dumps(machine, ensure_ascii=False))
    print(f"{len(rows)} runs, {bad} not as expected")
    return 1 if bad or not rows else 0
