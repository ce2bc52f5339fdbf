package job

import "fmt"

const (
	// minShareOneLaunch is the part of its kernel's time under Nsight Compute that a case with one launch takes at
	// least. The clock of 40 honest kernels on H100s and H200s, of 2.4 µs to 2.8 ms, showed at least 0.999 of it.
	minShareOneLaunch = 0.99
	// minShareSeveralLaunches and minTimePerLaunch, in nanoseconds, are for a case with several launches, of whose
	// total it takes at least so much, less so much a launch. Nsight Compute empties the caches before each, and lets
	// none begin before the end of the one before: eight dependent launches on 25 MB took 0.79 of their total, and of
	// 3.4 µs each 0.45.
	minShareSeveralLaunches, minTimePerLaunch = 0.7, 2e3
)

// ProfileContradiction returns a sentence about the first case of a ranked run that took less time than its kernels
// take under Nsight Compute, or "" if there is none. None is no proof: the program chooses what it does in its profile,
// and only the first launches (MaxProfiledLaunches) are in it. Nsight Compute runs kernels one at a time, so an honest
// program whose kernels run beside each other can be contradicted, too.
func ProfileContradiction(ranked, profiled []CaseResult) string {
	kernels := make(map[int][]Kernel, len(profiled))
	for _, c := range profiled {
		kernels[c.Index] = c.Kernels
	}
	for _, c := range ranked {
		sum, launches := 0.0, 0
		for _, k := range kernels[c.Index] {
			sum, launches = sum+k.NS, launches+k.Launches
		}
		least := minShareOneLaunch * sum
		if launches > 1 {
			least = minShareSeveralLaunches*sum - minTimePerLaunch*float64(launches)
		}
		if took := c.Time(); took > 0 && took < least {
			return fmt.Sprintf("case %d took %.1f µs, and its kernels take %.1f µs under Nsight Compute", c.Index+1, took/1e3, sum/1e3)
		}
	}
	return ""
}
