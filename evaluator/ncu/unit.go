package ncu

import "strings"

// baseUnit maps ncu's spellings, old and new, to one name each; ok is false for a unit that has no
// prefixes.
func baseUnit(unit string) (base string, ok bool) {
	switch unit {
	case "byte", "hz", "s":
		return unit, true
	case "second":
		return "s", true
	}
	return "", false
}

// prefix returns a prefix's factor. They are decimal: ncu's 32.768 Kbyte are 32,768 bytes.
func prefix(letter byte) (factor float64, ok bool) {
	switch letter {
	case 'T':
		return 1e12, true
	case 'G':
		return 1e9, true
	case 'M':
		return 1e6, true
	case 'K':
		return 1e3, true
	case 'm':
		return 1e-3, true
	case 'u':
		return 1e-6, true
	case 'n':
		return 1e-9, true
	}
	return 0, false
}

// Base returns the value in the base of its unit: bytes, seconds, hertz, and per second for rates.
// Units without a scale (%, inst, sector, plain numbers) come back unchanged.
func (m Metric) Base() (float64, bool) {
	if !m.Measured {
		return 0, false
	}
	over, under, rate := strings.Cut(m.Unit, "/")
	f, _ := scale(over)
	if rate {
		g, _ := scale(under)
		f /= g
	}
	return m.Value * f, true
}

// BaseUnit returns the unit that Base counts in: "byte", "s", "hz", "byte/s", "sector/s".
func (m Metric) BaseUnit() string {
	over, under, rate := strings.Cut(m.Unit, "/")
	_, u := scale(over)
	if rate {
		_, v := scale(under)
		u += "/" + v
	}
	return u
}

// scale splits a simple unit into its factor and its base; a unit that is not scaled is its own base.
func scale(unit string) (float64, string) {
	if base, ok := baseUnit(unit); ok {
		return 1, base
	}
	if unit == "" {
		return 1, unit
	}
	factor, ok := prefix(unit[0])
	base, scaled := baseUnit(unit[1:])
	if !ok || !scaled {
		return 1, unit
	}
	return factor, base
}
