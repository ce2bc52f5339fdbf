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

// Witness compares the cases of a ranked run with a profile of them. It returns true if no case took less time than its
// kernels take under Nsight Compute, and false with a sentence about the first one that did. It returns nil if that is
// not known: a case has no profile, a kernel in it no time, or so many launches that more may follow (MostLaunches).
// Nsight Compute runs kernels one at a time, so those that run beside each other can be refused; copies have no time
// there.
func Witness(ranked, profiled []CaseResult) (backed *bool, why string) {
	kernels := make(map[int][]Kernel, len(profiled))
	for _, c := range profiled {
		kernels[c.Index] = c.Kernels
	}
	complete := len(ranked) > 0
	for _, c := range ranked {
		sum, launches, timed := 0.0, 0, len(kernels[c.Index]) > 0
		for _, k := range kernels[c.Index] {
			sum, launches, timed = sum+k.NS, launches+k.Launches, timed && k.NS > 0
		}
		took := c.Time()
		complete = complete && timed && took > 0 && launches < MostLaunches
		if timed && took > 0 && took < witnessShare*sum-witnessLaunch*float64(launches-1) {
			no := false
			return &no, fmt.Sprintf("case %d took %.1f µs, and its kernels take %.1f µs under Nsight Compute", c.Index+1, took/1e3, sum/1e3)
		}
	}
	if !complete {
		return nil, ""
	}
	return &complete, ""
}
