package requirement

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// version is a version according to PEP 440, as numbers that are compared one after the other.
type version struct {
	epoch             uint64
	release           []uint64
	phase             int    // order of the kinds of pre-releases; see the constants
	preReleaseNumber  uint64 // number of the pre-release
	postReleaseNumber uint64 // number of the post-release, plus one; 0 for none
	devReleaseNumber  uint64 // number of the development release; the largest number for none
	localLabel        string // part after "+", in lower case, with dots as separators
}

// Phases of a version, in ascending order.
const (
	phaseDev = iota // a development release without another phase, such as 2.0.dev1
	phaseAlpha
	phaseBeta
	phaseCandidate
	phaseFinal
)

const noDevRelease = math.MaxUint64

var versionPattern = regexp.MustCompile(`^v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)` +
	`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?` +
	`(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?` +
	`(?:[-_.]?(dev)[-_.]?([0-9]*))?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// parseVersion parses a version. ok is false if it is longer than MaxVersionBytes or invalid.
func parseVersion(text string) (v version, ok bool) {
	if len(text) > MaxVersionBytes {
		return v, false
	}
	parts := versionPattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if parts == nil {
		return v, false
	}
	ok = true
	number := func(digits string) uint64 {
		if digits == "" {
			return 0
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		ok = ok && err == nil
		return n
	}
	v = version{
		epoch:            number(parts[1]),
		phase:            phaseFinal,
		devReleaseNumber: noDevRelease,
		localLabel:       nameSeparators.ReplaceAllString(parts[10], "."),
	}
	for part := range strings.SplitSeq(parts[2], ".") {
		v.release = append(v.release, number(part))
	}
	if parts[3] != "" {
		v.phase = map[byte]int{'a': phaseAlpha, 'b': phaseBeta}[parts[3][0]]
		if v.phase == 0 {
			v.phase = phaseCandidate
		}
		v.preReleaseNumber = number(parts[4])
	}
	if parts[5]+parts[6] != "" {
		v.postReleaseNumber = 1 + number(parts[5]+parts[7])
	}
	if parts[8] != "" {
		v.devReleaseNumber = number(parts[9])
		if v.phase == phaseFinal && v.postReleaseNumber == 0 {
			v.phase = phaseDev
		}
	}
	return v, ok
}

// compare returns -1, 0, or 1, as PEP 440 orders versions.
func (v version) compare(o version) int {
	return cmp.Or(cmp.Compare(v.epoch, o.epoch), compareReleases(v.release, o.release), cmp.Compare(v.phase, o.phase), cmp.Compare(v.preReleaseNumber, o.preReleaseNumber),
		cmp.Compare(v.postReleaseNumber, o.postReleaseNumber), cmp.Compare(v.devReleaseNumber,
			o.devReleaseNumber), strings.Compare(v.localLabel, o.localLabel))
}

// compareReleases compares lists of numbers; a missing number is 0.
func compareReleases(a, b []uint64) int {
	n := max(len(a), len(b))
	return slices.Compare(padRelease(a, n), padRelease(b, n))
}

func padRelease(release []uint64, n int) []uint64 {
	return append(slices.Clone(release), make([]uint64, max(n-len(release), 0))...)
}

// sameRelease reports whether both versions have the same release numbers, such as 3.1rc1 and 3.1.
func (v version) sameRelease(o version) bool {
	return v.epoch == o.epoch && compareReleases(v.release, o.release) == 0
}

// hasReleasePrefix reports whether the release numbers begin with those of o.
func (v version) hasReleasePrefix(o version) bool {
	n := len(o.release)
	return v.epoch == o.epoch && slices.Equal(padRelease(v.release, n)[:n], o.release)
}

// isPrerelease reports whether the version is a pre-release or a development release.
func (v version) isPrerelease() bool {
	return v.phase != phaseFinal || v.devReleaseNumber != noDevRelease
}

// isFinalRelease reports whether the version has only release numbers.
func (v version) isFinalRelease() bool {
	return v.phase == phaseFinal && v.devReleaseNumber == noDevRelease && v.postReleaseNumber == 0 && v.localLabel == ""
}
