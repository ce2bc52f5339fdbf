package likeness

import (
	"cmp"
	"hash/maphash"
	"slices"
)

const (
	tokensPerGram   = 20
	winnowingWindow = 8
	// maxHashedBytes limits the part of a source that is read, so that comparing many sources takes limited time.
	maxHashedBytes = 128 << 10
)

// Fingerprints has the fingerprints of a source, sorted and unique. Compare only fingerprints of the same Hasher.
type Fingerprints []uint64

// Hasher computes fingerprints of sources that do not depend on identifiers, comments, and layout. It converts a source
// to tokens, in which all identifiers are equal. It hashes each sequence of tokensPerGram tokens and keeps the smallest
// hash in each window of winnowingWindow adjacent hashes, as in S. Schleimer, D. Wilkerson, and A. Aiken, "Winnowing:
// Local Algorithms for Document Fingerprinting" (SIGMOD 2003). Sources that share tokensPerGram+winnowingWindow-1
// consecutive tokens share a fingerprint. The seed is random, so that no one can design a source with rare
// fingerprints.
type Hasher struct {
	hashSeed       maphash.Seed
	keywordClasses map[string]byte // classes of keywords
}

// newHasher returns a Hasher with a random seed.
func newHasher() Hasher { return Hasher{maphash.MakeSeed(), keywordClasses()} }

// FingerprintsOf returns the fingerprints of the first 128 KiB of a source.
func (h Hasher) FingerprintsOf(source []byte) Fingerprints {
	hashes := h.hashGrams(h.tokens(source[:min(len(source), maxHashedBytes)]))
	var kept Fingerprints
	last := -1 // index of the last kept hash
	for end := winnowingWindow; end <= len(hashes); end++ {
		least := end - winnowingWindow
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

func (h Hasher) hashGrams(tokens []byte) []uint64 {
	hashes := make([]uint64, 0, max(len(tokens)-tokensPerGram+1, 0))
	for i := 0; i+tokensPerGram <= len(tokens); i++ {
		hashes = append(hashes, maphash.Bytes(h.hashSeed, tokens[i:i+tokensPerGram]))
	}
	return hashes
}

// Subtract returns the fingerprints in p that are not in others.
func (p Fingerprints) Subtract(others Fingerprints) Fingerprints {
	return slices.DeleteFunc(slices.Clone(p), func(print uint64) bool {
		_, found := slices.BinarySearch(others, print)
		return found
	})
}

// unionOfFingerprints returns the union of several sets of fingerprints.
func unionOfFingerprints(all ...Fingerprints) Fingerprints {
	union := slices.Concat(all...)
	slices.Sort(union)
	return slices.Compact(union)
}

// sharedFingerprints has the indexes of two sources, and the number of fingerprints that they share.
type sharedFingerprints struct{ FirstIndex, SecondIndex, SharedCount int }

// pairsWithSharedFingerprints returns the pairs of sources that share fingerprints, the largest number first. It
// ignores fingerprints that occur in more than most sources, which are idioms.
func pairsWithSharedFingerprints(sources []Fingerprints, most int) []sharedFingerprints {
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
	shared := map[sharedFingerprints]int{}
	for begin, end := 0, 0; begin < total; begin = end {
		for end = begin + 1; end < total && all[end].print == all[begin].print; end++ {
		}
		if end-begin > most {
			continue
		}
		for i, a := range all[begin:end] {
			for _, b := range all[begin+i+1 : end] {
				shared[sharedFingerprints{FirstIndex: a.source, SecondIndex: b.source}]++
			}
		}
	}
	pairs := make([]sharedFingerprints, 0, len(shared))
	for pair, n := range shared {
		pairs = append(pairs, sharedFingerprints{pair.FirstIndex, pair.SecondIndex, n})
	}
	slices.SortFunc(pairs, func(a, b sharedFingerprints) int {
		return cmp.Or(b.SharedCount-a.SharedCount, a.FirstIndex-b.FirstIndex, a.SecondIndex-b.SecondIndex)
	})
	return pairs
}
