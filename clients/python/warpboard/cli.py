"""warpboard-eval, a command for the evaluation API.

Exit codes: 0 compiled and correct; 1 the kernel does not compile or is wrong; 2 a file or an argument is
wrong; 3 the server refused or the evaluation ended without a result; 4 the server cannot be reached.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Callable, Dict, List, Optional

from .cli_args import comparison, evaluation, parser
from .client import KernelEvalClient
from .errors import EvalConnectionError, EvalError, EvalTimeoutError
from .files import to_json
from .report import progress_line, summary

OK, WRONG_KERNEL, WRONG_INPUT, REFUSED, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(argv: Optional[List[str]] = None) -> int:
    """Runs the command and returns its exit code; argv is without the program's name."""
    args = parser().parse_args(argv)
    try:
        answer = _COMMANDS[args.command](args)
    except (EvalConnectionError, EvalTimeoutError) as error:
        return _complain(error, UNREACHABLE)
    except EvalError as error:
        return _complain(error, REFUSED)
    except (OSError, ValueError) as error:
        return _complain(error, WRONG_INPUT)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    if "kernel_exec_result" not in answer:
        print(to_json(answer, pretty=True))
        return OK
    print(to_json(answer, pretty=True) if args.json else summary(answer))
    result = answer["kernel_exec_result"]
    return OK if result.get("compiled") and result.get("correctness") else WRONG_KERNEL


def _evaluate(args: argparse.Namespace) -> Dict[str, Any]:
    kernel, options = evaluation(args)
    return _client(args).evaluate(kernel, progress=_progress(args), **options)


def _compare(args: argparse.Namespace) -> Dict[str, Any]:
    ref, custom, options = comparison(args)
    return _client(args).compare(ref, custom, progress=_progress(args), **options)


_COMMANDS: Dict[str, Callable[[argparse.Namespace], Dict[str, Any]]] = {
    "evaluate": _evaluate,
    "compare": _compare,
    "status": lambda args: _client(args).evaluation(args.id).poll(),
    "cancel": lambda args: _client(args).evaluation(args.id).cancel(),
    "health": lambda args: _client(args).health_check(),
    "stats": lambda args: _client(args).get_stats(),
}


def _client(args: argparse.Namespace) -> KernelEvalClient:
    return KernelEvalClient(args.server, token=args.token, key=args.key)


def _progress(args: argparse.Namespace) -> Any:
    if not args.progress:
        return None
    return lambda event: print(progress_line(event), file=sys.stderr, flush=True)


def _complain(error: Any, code: int) -> int:
    print(f"warpboard-eval: {error}", file=sys.stderr)
    return code
