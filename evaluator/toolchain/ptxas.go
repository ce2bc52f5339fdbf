package toolchain

import (
	"regexp"
	"strings"
)

var (
	ptxasEntryPattern     = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	ptxasRegistersPattern = regexp.MustCompile(`Used (\d+) registers`)
	ptxasSharedPattern    = regexp.MustCompile(`(\d+) bytes smem`)
	ptxasStackPattern     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
)

// maxKernelsWithFacts limits the kernels with facts, because a submission with templates can have thousands of entry
// functions and the result contains the facts.
const maxKernelsWithFacts = 64

// ptxasFacts parses the output of `ptxas --verbose`. Keys are "ptxas.<kernel>.registers", and ".smem", ".stack",
// ".spill_stores", and ".spill_loads" in bytes.
func ptxasFacts(stderr string) map[string]string {
	facts := map[string]string{}
	kernel, kernels := "", 0
	for line := range strings.Lines(stderr) {
		if m := ptxasEntryPattern.FindStringSubmatch(line); m != nil {
			kernel = "ptxas." + m[1]
			if kernels++; kernels > maxKernelsWithFacts {
				break
			}
		}
		if kernel == "" {
			continue
		}
		if m := ptxasStackPattern.FindStringSubmatch(line); m != nil {
			facts[kernel+".stack"], facts[kernel+".spill_stores"], facts[kernel+".spill_loads"] = m[1], m[2], m[3]
		}
		if m := ptxasRegistersPattern.FindStringSubmatch(line); m != nil {
			facts[kernel+".registers"] = m[1]
		}
		if m := ptxasSharedPattern.FindStringSubmatch(line); m != nil {
			facts[kernel+".smem"] = m[1]
		}
	}
	return facts
}
