package submissions

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"warpboard/tasks"
)

// cheatingHint is a text pattern that occurred in kernels with a false time, and its meaning. Most sources with one are
// honest: a hint only requests a review. People who have read the list can easily avoid it. Patterns match the raw
// text, including comments and strings. RE2 is linear in the text, whose size is limited (tasks.CheckSubmission); it
// has no back references and no look-ahead.
type cheatingHint struct {
	pattern *regexp.Regexp
	meaning string
}

// cheatingHints are patterns that no kernel needs for its answer. Threads, streams, and caches are not among them:
// honest kernels use them, and the judge's clock covers them.
var cheatingHints = []cheatingHint{
	{regexp.MustCompile(`(?:torch\.cuda\.(?:Event|synchronize|current_stream)|time\.(?:perf_counter|monotonic|time)(?:_ns)?)[ \t]*=[^=]`), "replaces a clock or a synchronisation"},
	{regexp.MustCompile(`setattr\(\s*(?:torch|time|sys|builtins)\b`), "replaces functions of a module"},
	{regexp.MustCompile(`_getframe|inspect\.(?:stack|currentframe|getouterframes)|gc\.get_(?:objects|referrers)|sys\.(?:settrace|setprofile|modules)`), "looks at the program that calls it"},
	{regexp.MustCompile(`gc\.callbacks|atexit\.|weakref\.finalize|__del__|__attribute__\s*\(\(\s*(?:con|de)structor`), "runs code outside the timed call"},
	{regexp.MustCompile(`/proc/|LD_PRELOAD|\bptrace\b|process_vm_(?:read|write)v|\bmprotect\b|\bdl(?:open|sym|_iterate_phdr)\b`), "reaches into the process"},
	{regexp.MustCompile(`\bctypes\b|\bsubprocess\b|\bsocket\b|os\.(?:environ|system|fork|popen|kill)`), "uses the operating system"},
	{regexp.MustCompile(`(?m)^\s*(?:from|import)\s+(?:reference|eval|utils)\b|#include\s+"reference`), "imports the task's own files"},
	{regexp.MustCompile(`cudaLimitPersistingL2CacheSize|cudaAccessPropertyPersisting|accessPolicyWindow`), "keeps data in the L2 cache between calls"},
	{regexp.MustCompile(`pickle|__reduce(?:_ex)?__|__class__\s*=|__torch_function__|__torch_dispatch__`), "changes what its answer is when it is read"},
}

// maxSearchedBytes limits the bytes of a submission that are searched, all its files together: nine patterns over one
// of the largest size take half a second. A longer submission is flagged for review.
const maxSearchedBytes = 64 << 10

// hintsIn returns the signs of cheating in a submission as a text for reviewers: each sign once per file, with its
// first line.
func hintsIn(s tasks.Submission) string {
	left := maxSearchedBytes
	look := func(file string, source []byte) []string {
		part := source[:min(left, len(source))]
		left -= len(part)
		return hintsInFile(file, part)
	}
	found := look("", s.Source)
	for _, name := range s.Names() {
		found = append(found, look(name+" ", s.Files[name])...)
	}
	if s.Size() > maxSearchedBytes {
		found = append(found, fmt.Sprintf("is longer than the %d KiB that are searched", maxSearchedBytes>>10))
	}
	return strings.Join(found, "; ")
}

func hintsInFile(file string, source []byte) (found []string) {
	for _, h := range cheatingHints {
		// Only the first match: a reviewer reads the file from there, and the flag stays short.
		if at := h.pattern.FindIndex(source); at != nil {
			line := bytes.Count(source[:at[0]], []byte("\n")) + 1
			text := strings.TrimSpace(string(source[at[0]:min(at[1], at[0]+60)]))
			found = append(found, fmt.Sprintf("%sline %d %s (%s)", file, line, h.meaning, text))
		}
	}
	return found
}
