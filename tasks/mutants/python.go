package mutants

import "strings"

// pythonMutant returns Python source in which the correct kernel has another name, and a function with its name calls
// it between the statements of w.
func pythonMutant(right string, w codeAroundCall) string {
	before, after := w.codeBefore, w.codeAfter
	if before == "" {
		before = "pass"
	}
	if after == "" {
		after = "pass"
	}
	return right + strings.NewReplacer("HELPERS", w.helperFunctions, "BEFORE", before, "AFTER",
		after).Replace(pythonKernelTemplate)
}

const pythonKernelTemplate = `

_right_kernel = custom_kernel

HELPERS
def custom_kernel(data):
    BEFORE
    answer = _right_kernel(data)
    numpy = type(answer).__module__ == "numpy"
    right = answer.copy() if numpy else answer.clone()
    AFTER
    return answer
`

// pythonStaleSource is Python code for the output of the previous call, truncated or repeated to the shape of the
// current one.
const pythonStaleSource = `
_answers = []


def _before(right, numpy):
    kept = _answers[0] if _answers else right
    _answers[:] = [right]
    flat = kept.reshape(-1)
    if numpy:
        return _np.resize(flat, right.shape)
    count = right.numel()
    return flat.repeat(-(-count // len(flat)))[:count].reshape(right.shape)


try:
    import numpy as _np
except ImportError:
    _np = None

`

// pythonZeroLargestSource is Python code that finds the largest number in the arrays of an input, also inside tuples,
// lists, and dicts, and sets it to zero. Floating-point arrays take precedence.
const pythonZeroLargestSource = `
def _arrays(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in _arrays(part)]
    return [value] if getattr(value, "ndim", 0) > 0 and 0 not in value.shape else []


def _largest(array):
    size = abs(array)
    if type(array).__module__ == "numpy":
        floating = array.dtype.kind == "f"
        size[size != size] = 0
    else:
        floating = array.is_floating_point()
        size = size.double().nan_to_num(0)
    at = int(size.argmax())
    return floating, float(size.reshape(-1)[at]), at


def _leave_out_a_term(data):
    found = [(*_largest(array), array) for array in _arrays(data)]
    _, _, at, array = max(found, key=lambda f: f[:2])
    place = []
    for length in reversed(array.shape):
        at, index = divmod(at, length)
        place.insert(0, index)
    array[tuple(place)] = 0


`
