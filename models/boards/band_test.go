package boards

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// student returns the t-quantile of a 95 % interval from this many processes.
var student = map[int]float64{3: 4.303, 5: 2.776, 10: 2.262, 25: 2.064}

// measure returns the score of a kernel whose processes differ by a relative deviation: their median, and the interval
// of their mean, both of logarithms.
func measure(r *rand.Rand, ns, deviation float64, processes int) Entry {
	logs, mean, squares, n := make([]float64, processes), 0.0, 0.0, float64(processes)
	for i := range logs {
		logs[i] = math.Log(ns) + r.NormFloat64()*deviation
		mean += logs[i] / n
	}
	for _, x := range logs {
		squares += (x - mean) * (x - mean)
	}
	half := student[processes] * math.Sqrt(squares/(n-1)/n)
	slices.Sort(logs)
	low, high := math.Exp(mean-half), math.Exp(mean+half)
	return Entry{VersionID: 1, ScoreNS: math.Exp(logs[processes/2]), Interval: Interval{LowNS: &low, HighNS: &high}}
}

// cutAll cuts entries of one board into bands.
func cutAll(entries []Entry) []Band {
	slices.SortFunc(entries, func(a, b Entry) int {
		if a.ScoreNS < b.ScoreNS {
			return -1
		}
		return 1
	})
	var cut bandBuilder
	for _, e := range entries {
		cut.add(e)
	}
	return cut.bands
}

// TestEqualKernelsNeverHaveASoleFirst measures 20 equal kernels 100 times for each kind of noise. Three processes,
// fewer than a ranked run has unless its time is up, may be close together by luck: once in 400 boards if they differ
// by 5 %.
func TestEqualKernelsNeverHaveASoleFirst(t *testing.T) {
	for processes := range student {
		for _, deviation := range []float64{0.0005, 0.002, 0.01, 0.05} {
			r := rand.New(rand.NewPCG(7, uint64(processes)))
			alone := 0
			for range 100 {
				entries := make([]Entry, 20)
				for i := range entries {
					entries[i] = measure(r, 100e3, deviation, processes)
				}
				if bands := cutAll(entries); bands[0].EntryCount == 1 {
					alone++
				}
			}
			if alone > 0 && processes >= 5 || alone > 1 {
				t.Errorf("%d processes, %.2f %%: one of 20 equal kernels stands alone on the first place in %d of 100 boards", processes, 100*deviation, alone)
			}
		}
	}
}

// TestABetterKernelBeginsANewBand checks that a kernel which is 2 % faster than another does not share its band, if
// processes differ by 0.2 %.
func TestABetterKernelBeginsANewBand(t *testing.T) {
	for processes, want := range map[int]int{3: 95, 5: 100, 10: 100, 25: 100} {
		r, apart := rand.New(rand.NewPCG(8, uint64(processes))), 0
		for range 100 {
			if bands := cutAll([]Entry{measure(r, 98e3, 0.002, processes),
				measure(r, 100e3, 0.002, processes)}); len(bands) == 2 {
				apart++
			}
		}
		if apart < want {
			t.Errorf("%d processes: told apart in %d of 100, want %d", processes, apart, want)
		}
	}
}

// TestNoiseGivesNoAdvantage checks two things. Behind a first entry with little noise, an entry never ranks better than
// an entry with the same score and an interval of ± 0.5 %. A noisy kernel that is 2 % slower than the first ties with
// it only by luck.
func TestNoiseGivesNoAdvantage(t *testing.T) {
	first := measure(rand.New(rand.NewPCG(1, 1)), 100e3, 0.001, 10)
	with := func(ns, half float64) Entry {
		low, high := ns*(1-half), ns*(1+half)
		return Entry{VersionID: 1, ScoreNS: ns, Interval: Interval{LowNS: &low, HighNS: &high}}
	}
	for behind := 0.004; behind < 0.05; behind += 0.001 {
		steady := isClearlySlower(first, with(first.ScoreNS*(1+behind), 0.005))
		for _, half := range []float64{0.006, 0.01, 0.02, 0.1, 0.5} {
			if uneven := isClearlySlower(first, with(first.ScoreNS*(1+behind), half)); steady && !uneven {
				t.Errorf("%.1f %% behind, an interval of ± %g %% ties with the first, and one of ± 0.5 %% does not",
					100*behind, 100*half)
			}
		}
	}
	r, ties := rand.New(rand.NewPCG(9, 9)), 0
	const trials = 1000
	for range trials {
		if uneven := measure(r, 102e3, 0.028, 10); !isClearlySlower(first, uneven) {
			ties++
		}
	}
	if ties > trials*10/100 {
		t.Errorf("an uneven kernel that is 2 %% slower ties with the first in %d of %d boards", ties, trials)
	}
}

func TestIsClearlySlower(t *testing.T) {
	at := func(score float64, interval ...float64) Entry {
		e := Entry{ScoreNS: score}
		if len(interval) == 2 {
			e.LowNS, e.HighNS = &interval[0], &interval[1]
		}
		return e
	}
	for name, c := range map[string]struct {
		first, e Entry
		want     bool
	}{
		"equal":                             {at(100), at(100), false},
		"0.5 % without intervals":           {at(1000), at(1004.9), false},
		"0.6 % without intervals":           {at(100), at(100.6), true},
		"0.4 % with narrow intervals":       {at(100, 99.9, 100.1), at(100.4, 100.3, 100.5), false},
		"1 % with intervals that touch":     {at(100, 99, 100.5), at(101, 100.5, 102), false},
		"1 % with intervals that do not":    {at(100, 99, 100.4), at(101, 100.5, 102), true},
		"into the interval of the first":    {at(100, 95, 105), at(104), false},
		"an interval beside its own score":  {at(100, 90, 95), at(99.9, 99.8, 100.2), false},
		"a wide one against one without":    {at(100), at(101.5, 99, 140), true},
		"a far one that is made uneven":     {at(100, 99.9, 100.1), at(120, 90, 150), true},
		"a near one that is made uneven":    {at(100, 99.9, 100.1), at(101.2, 98, 105), true},
		"both are uneven":                   {at(100, 97, 103), at(104, 101, 107), false},
		"9 % behind a very uneven first":    {at(100, 20, 600), at(109, 108, 110), false},
		"11 % behind a very uneven first":   {at(100, 20, 600), at(111, 110.5, 112), true},
		"5 times as slow, both uneven":      {at(100, 20, 600), at(500, 90, 900), true},
		"twice as slow with wide intervals": {at(100, 90, 110), at(200, 180, 220), true},
	} {
		if got := isClearlySlower(c.first, c.e); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestBandsDoNotChain checks that each entry is compared only with the first entry of its band.
func TestBandsDoNotChain(t *testing.T) {
	var entries []Entry
	for i := range 10 {
		entries = append(entries, Entry{VersionID: 1, RunID: int64(i + 1), ScoreNS: 1000 + 3*float64(i)})
	}
	var sizes []int64
	for _, b := range cutAll(entries) {
		sizes = append(sizes, b.EntryCount)
	}
	if !slices.Equal(sizes, []int64{2, 2, 2, 2, 2}) { // 1000 and 1003; 1006 is 0.6 % behind 1000
		t.Errorf("the bands hold %v", sizes)
	}
}
