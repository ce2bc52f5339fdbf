"""Parses the arguments of warpboard-eval, and reads its kernels and options."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, Dict, List, Optional, Tuple

from .files import load_from_file, read_source
from .kernels import IOContract, KernelCode, KernelType
from .version import __version__

_TYPES = [kind.value for kind in KernelType]


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    about = "Compile, check, and time GPU kernels on a Warpboard site."
    top = argparse.ArgumentParser(prog="warpboard-eval", description=about)
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    site = argparse.ArgumentParser(add_help=False)
    site.add_argument("--server", help="address of the server (WARPBOARD_SERVER)")
    site.add_argument("--token", help="token from your account page (prefer WARPBOARD_TOKEN, which other users of this machine cannot see)")
    site.add_argument("--key", help="key that the server gave to a caller without a token")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _kernel_commands(commands, site)
    for name, about in (("status", "show an evaluation by its id"), ("cancel", "cancel an evaluation by its id")):
        commands.add_parser(name, parents=[site], help=about).add_argument("id", metavar="ID")
    commands.add_parser("health", parents=[site], help="show the server's health")
    commands.add_parser("stats", parents=[site], help="show the server's counters")
    return top


def _kernel_commands(commands: Any, site: argparse.ArgumentParser) -> None:
    shared = _shared()
    evaluate = commands.add_parser("evaluate", parents=[site, shared], help="evaluate one kernel")
    evaluate.add_argument("file", metavar="FILE", help="source, or a KernelCode saved as .json")
    compare = commands.add_parser("compare", parents=[site, shared], help="compare a kernel with a reference")
    compare.add_argument("ref", metavar="REF", help="the reference: source or .json")
    compare.add_argument("file", metavar="CUSTOM", help="the kernel: source or .json")
    compare.add_argument("--ref-type", choices=_TYPES, help="type of the reference (torch)")
    compare.add_argument("--ref-io", metavar="FILE", help="contract of the reference (default: --io)")
    compare.add_argument("--ref-meta", metavar="KEY=VALUE", action="append", default=[], help="metadata of the reference")
    compare.add_argument("--atol", type=float, help="absolute tolerance (0.01)")
    compare.add_argument("--rtol", type=float, help="relative tolerance (0.01)")


def _shared() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--type", choices=_TYPES, help="type of the kernel (.cu: cuda, else torch)")
    shared.add_argument("--io", metavar="FILE", help="contract of the kernel, an IOContract saved as JSON")
    shared.add_argument("--meta", metavar="KEY=VALUE", action="append", default=[], help="metadata; VALUE may be JSON")
    shared.add_argument("--trials", type=int, default=100, help="timed calls, 1 to 10000 (100)")
    shared.add_argument("--timeout", type=int, default=120, help="seconds, 5 to 600 (120)")
    shared.add_argument("--gpu", metavar="TYPE", help="device, such as h200 or cpu (any)")
    shared.add_argument("--no-l2-flush", action="store_true", help="leave the L2 cache warm between calls")
    shared.add_argument("--device-metrics", action="store_true", help="also read hardware counters")
    shared.add_argument("--progress", action="store_true", help="print the stages to standard error")
    shared.add_argument("--json", action="store_true", help="print the whole answer as JSON")
    return shared


def evaluation(args: argparse.Namespace) -> Tuple[KernelCode, Dict[str, Any]]:
    """Returns the kernel and the options of "evaluate". Raises OSError and ValueError for bad files."""
    return _kernel(args.file, args.type, args.io, args.meta), _options(args)


def comparison(args: argparse.Namespace) -> Tuple[KernelCode, KernelCode, Dict[str, Any]]:
    """Returns the reference, the kernel and the options of "compare". Raises the same errors as evaluation."""
    ref = _kernel(args.ref, args.ref_type, args.ref_io or args.io, args.ref_meta)
    custom = _kernel(args.file, args.type, args.io, args.meta)
    return ref, custom, {**_options(args), "atol": args.atol, "rtol": args.rtol}


def _options(args: argparse.Namespace) -> Dict[str, Any]:
    return {
        "num_trials": args.trials, "timeout": args.timeout, "gpu_type": args.gpu,
        "l2_flush": False if args.no_l2_flush else None, "collect_device_metrics": args.device_metrics or None,
    }


def _kernel(path: str, kind: Optional[str], io: Optional[str], meta: List[str]) -> KernelCode:
    extension = os.path.splitext(path)[1]
    if extension == ".json":
        kernel: KernelCode = load_from_file(path, "KernelCode")
    else:
        kernel = KernelCode(read_source(path), KernelType(kind or ("cuda" if extension == ".cu" else "torch")))
    if io and kernel.io is None:
        kernel.io = _contract(io)
    if meta:
        kernel.metadata = {**(kernel.metadata or {}), **dict(_pair(text) for text in meta)}
    return kernel


def _contract(path: str) -> IOContract:
    contract: IOContract = load_from_file(path, "IOContract")
    return contract


def _pair(text: str) -> Tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError(f"--meta {text}: KEY=VALUE is needed")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
