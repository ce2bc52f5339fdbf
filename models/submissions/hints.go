package submissions

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"warpboard/tasks"
)

// cheatingHint is a text pattern that occurred in kernels with forged times, with its meaning. Most matching sources
// are honest, so a match only requests a review. People who know the list can easily avoid it. Patterns match the raw
// text, including comments and strings. RE2 takes linear time, and tasks.CheckSubmission limits the text.
type cheatingHint struct {
	pattern *regexp.Regexp
	meaning string
}

// cheatingHints lists patterns that no kernel needs for its answer. Threads, streams, and caches are not listed,
// because honest kernels use them, and the judge's clock detects their misuse.
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

// maxBytesSearchedForHints limits the part of a submission that is searched, over all its files, because nine patterns
// over the largest submission take half a second. A longer submission is flagged for review.
const maxBytesSearchedForHints = 64 << 10

// cheatingHintsIn describes the cheating hints in a submission for reviewers: each hint once per file, with its first
// line.
func cheatingHintsIn(s tasks.Submission) string {
	left := maxBytesSearchedForHints
	look := func(file string, source []byte) []string {
		part := source[:min(left, len(source))]
		left -= len(part)
		return cheatingHintsInFile(file, part)
	}
	found := look("", s.Source)
	for _, name := range s.Names() {
		found = append(found, look(name+" ", s.Files[name])...)
	}
	if s.Size() > maxBytesSearchedForHints {
		found = append(found, fmt.Sprintf("is longer than the %d KiB that are searched", maxBytesSearchedForHints>>10))
	}
	return strings.Join(found, "; ")
}

func cheatingHintsInFile(file string, source []byte) (found []string) {
	for _, h := range cheatingHints {
		// Only the first match is listed, to keep the flag short.
		if at := h.pattern.FindIndex(source); at != nil {
			line := bytes.Count(source[:at[0]], []byte("\n")) + 1
			text := strings.TrimSpace(string(source[at[0]:min(at[1], at[0]+60)]))
			found = append(found, fmt.Sprintf("%sline %d %s (%s)", file, line, h.meaning, text))
		}
	}
	return found
}
