package job

import "fmt"

const (
	// minShareOneLaunch is the minimum ratio of a case's time to the time of its kernel under Nsight Compute, for a
	// case with one launch. For 40 honest kernels on H100s and H200s, of 2.4 µs to 2.8 ms, the ratio was at least
	// 0.999.
	minShareOneLaunch = 0.99
	// minShareSeveralLaunches and minTimePerLaunch (in nanoseconds) apply to a case with several launches: its time
	// must be at least minShareSeveralLaunches of their total, minus minTimePerLaunch for each launch. Nsight Compute
	// empties the caches before each launch and serializes launches: eight dependent launches on 25 MB took 0.79 of
	// their total, and launches of 3.4 µs 0.45.
	minShareSeveralLaunches, minTimePerLaunch = 0.7, 2e3
)

// ProfileContradiction returns a sentence about the first case of a ranked run whose time is shorter than that of its
// kernels under Nsight Compute, or "". "" proves nothing, because the program chooses what it does in its profile,
// which has only the first launches (MaxProfiledLaunches). Nsight Compute serializes kernels, so an honest program with
// concurrent kernels can be contradicted, too.
func ProfileContradiction(ranked, profiled []CaseResult) string {
	kernels := make(map[int][]Kernel, len(profiled))
	for _, c := range profiled {
		kernels[c.Index] = c.Kernels
	}
	for _, c := range ranked {
		sum, launches := 0.0, 0
		for _, k := range kernels[c.Index] {
			sum, launches = sum+k.NS, launches+k.LaunchCount
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
