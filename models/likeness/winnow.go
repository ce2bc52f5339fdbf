package likeness

import (
	"cmp"
	"hash/maphash"
	"slices"
)

const (
	gram   = 20
	window = 8
	// mostHashed limits the part of a source that is read, so that comparing many sources takes bounded time.
	mostHashed = 128 << 10
)

// Prints are the fingerprints of a source, sorted and unique. They are comparable only with those of the same Hasher.
type Prints []uint64

// Hasher computes prints of sources, independent of identifiers, comments, and layout: a source becomes a sequence of
// tokens in which all identifiers are equal. Every run of gram tokens is hashed, and the smallest hash of each window
// of neighboring hashes is kept, as in S. Schleimer, D. Wilkerson, and A. Aiken, "Winnowing: Local Algorithms for
// Document Fingerprinting" (SIGMOD 2003). Sources that share gram+window-1 consecutive tokens share a print. Its seed
// is random, so that a source cannot be designed to have rare-looking prints.
type Hasher struct {
	seed    maphash.Seed
	classes map[string]byte // classes of keywords
}

// newHasher returns a Hasher.
func newHasher() Hasher { return Hasher{maphash.MakeSeed(), classes()} }

// Of returns the prints of a source. Only its first 128 KiB count.
func (h Hasher) Of(source []byte) Prints {
	hashes := h.grams(h.tokens(source[:min(len(source), mostHashed)]))
	var kept Prints
	last := -1 // index of the last kept hash
	for end := window; end <= len(hashes); end++ {
		least := end - window
		for i := least + 1; i < end; i++ {
			if hashes[i] <= hashes[least] {
				least = i
			}
		}
		if least != last {
			kept, last = append(kept, hashes[least]), least
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

func (h Hasher) grams(tokens []byte) []uint64 {
	hashes := make([]uint64, 0, max(len(tokens)-gram+1, 0))
	for i := 0; i+gram <= len(tokens); i++ {
		hashes = append(hashes, maphash.Bytes(h.seed, tokens[i:i+gram]))
	}
	return hashes
}

// Without returns the prints that are not in others.
func (p Prints) Without(others Prints) Prints {
	return slices.DeleteFunc(slices.Clone(p), func(print uint64) bool {
		_, found := slices.BinarySearch(others, print)
		return found
	})
}

// union returns the union of all prints.
func union(all ...Prints) Prints {
	union := slices.Concat(all...)
	slices.Sort(union)
	return slices.Compact(union)
}

// overlap is two sources, by index, with their number of shared prints.
type overlap struct{ A, B, Shared int }

// pairsWithCommonPrints returns the pairs of sources that share prints, most first. Prints that occur in more than most
// sources are ignored: they are idioms of the field.
func pairsWithCommonPrints(sources []Prints, most int) []overlap {
	type occurrence struct {
		print  uint64
		source int
	}
	total := 0
	for _, prints := range sources {
		total += len(prints)
	}
	all := make([]occurrence, 0, total) // sorted, because a map of lists takes ten times the memory
	for i, prints := range sources {
		for _, print := range prints {
			all = append(all, occurrence{print, i})
		}
	}
	slices.SortFunc(all, func(a, b occurrence) int { return cmp.Or(cmp.Compare(a.print, b.print), a.source-b.source) })
	shared := map[overlap]int{}
	for begin, end := 0, 0; begin < total; begin = end {
		for end = begin + 1; end < total && all[end].print == all[begin].print; end++ {
		}
		if end-begin > most {
			continue
		}
		for i, a := range all[begin:end] {
			for _, b := range all[begin+i+1 : end] {
				shared[overlap{A: a.source, B: b.source}]++
			}
		}
	}
	pairs := make([]overlap, 0, len(shared))
	for pair, n := range shared {
		pairs = append(pairs, overlap{pair.A, pair.B, n})
	}
	slices.SortFunc(pairs, func(a, b overlap) int { return cmp.Or(b.Shared-a.Shared, a.A-b.A, a.B-b.B) })
	return pairs
}
