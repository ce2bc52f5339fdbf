package job

import "fmt"

const (
	// witnessShare is the part of its kernels' time under Nsight Compute that a case takes at least. The clock of 45
	// honest kernels on H200s, of 2.4 µs to 2.8 ms, showed at least 0.999 of it, except for a graph of six kernels.
	witnessShare = 0.99
	// witnessLaunch is the time in nanoseconds that each launch after a case's first may save: kernels of a graph begin
	// before the one before has left, and find its results in the cache, which Nsight Compute empties.
	witnessLaunch = 1e3
)

// Contradiction returns a sentence about the first case of a ranked run that took less time than its kernels take under
// Nsight Compute, or "" if there is none. None is no proof: the program chooses what it does in its profile, and only
// the first launches (MostLaunches) are in it. Nsight Compute runs kernels one at a time, so an honest program whose
// kernels run beside each other can be contradicted, too.
func Contradiction(ranked, profiled []CaseResult) string {
	kernels := make(map[int][]Kernel, len(profiled))
	for _, c := range profiled {
		kernels[c.Index] = c.Kernels
	}
	for _, c := range ranked {
		sum, launches := 0.0, 0
		for _, k := range kernels[c.Index] {
			sum, launches = sum+k.NS, launches+k.Launches
		}
		if took := c.Time(); took > 0 && took < witnessShare*sum-witnessLaunch*float64(launches-1) {
			return fmt.Sprintf("case %d took %.1f µs, and its kernels take %.1f µs under Nsight Compute", c.Index+1, took/1e3, sum/1e3)
		}
	}
	return ""
}
