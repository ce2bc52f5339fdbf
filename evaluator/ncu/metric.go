package ncu

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Metric is one value in ncu's output. Value is in UnitName ("%", "us", "Mbyte", "sector/ns", "" for a plain number)
// and valid only if Measured; Text is ncu's text.
type Metric struct {
	UnitName string
	Text     string
	Value    float64
	Measured bool
}

// NewMetric parses a value in ncu's output, which may have thousands separators. NaN, infinity, n/a, "no data", a
// single dash, and words are not measured.
func NewMetric(text, unitName string) Metric {
	m := Metric{UnitName: strings.TrimSpace(unitName), Text: strings.TrimSpace(text)}
	m.Value, m.Measured = parseNumber(m.Text)
	return m
}

func parseNumber(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "+-0123456789.,eE") != "" {
		return 0, false
	}
	digits, ok := removeThousandsSeparators(text)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(digits, 64)
	// The limit exceeds any counter, and keeps sums and products finite.
	const largest = 1e100
	if err != nil || math.IsNaN(v) || math.Abs(v) > largest {
		return 0, false
	}
	return v, true
}

// removeThousandsSeparators removes the separators from "1,234.5". Other commas stay, as in "65,97" or the list
// "0,1,2", where removing them would change the value.
func removeThousandsSeparators(text string) (string, bool) {
	whole, rest, _ := strings.Cut(text, ".")
	groups := strings.Split(whole, ",")
	if strings.Contains(rest, ",") {
		return "", false
	}
	for i, g := range groups {
		first := strings.TrimLeft(g, "+-")
		if i > 0 && len(g) != 3 || len(groups) > 1 && i == 0 && (first == "" || first[0] == '0' || len(first) > 3) {
			return "", false
		}
	}
	return strings.ReplaceAll(text, ",", ""), true
}

// HasValue reports whether the metric has a usable value: a number, or a word such as "PolicySpread".
func (m Metric) HasValue() bool {
	switch strings.ToLower(m.Text) {
	case "", "-", "n/a", "nan", "-nan", "inf", "-inf", "no data", "(!) n/a", "(!) nan":
		return false
	}
	return true
}

type metricJSON struct {
	UnitName string   `json:"unit,omitempty"`
	Text     string   `json:"text"`
	Value    *float64 `json:"value,omitempty"` // absent if not measured
}

// MarshalJSON writes unit, text, and value; the value is absent if not measured.
func (m Metric) MarshalJSON() ([]byte, error) {
	j := metricJSON{UnitName: m.UnitName, Text: m.Text}
	if m.Measured {
		j.Value = &m.Value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the result of MarshalJSON.
func (m *Metric) UnmarshalJSON(b []byte) error {
	var j metricJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*m = Metric{UnitName: j.UnitName, Text: j.Text}
	if j.Value != nil {
		m.Value, m.Measured = *j.Value, true
	}
	return nil
}

// MarshalJSON adds the label to the metric's own fields.
func (r SectionRow) MarshalJSON() ([]byte, error) {
	j := rowJSON{Label: r.Label, metricJSON: metricJSON{UnitName: r.UnitName, Text: r.Text}}
	if r.Measured {
		j.Value = &r.Value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the result of MarshalJSON.
func (r *SectionRow) UnmarshalJSON(b []byte) error {
	var j rowJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	r.Label = j.Label
	return r.Metric.UnmarshalJSON(b)
}

type rowJSON struct {
	Label string `json:"label"`
	metricJSON
}

// baseUnitName maps the spellings of units in all versions of ncu to one name each. ok is false for a unit without
// prefixes.
func baseUnitName(unitName string) (base string, ok bool) {
	switch unitName {
	case "byte", "hz", "s":
		return unitName, true
	case "second":
		return "s", true
	}
	return "", false
}

// unitPrefixFactor returns the factor of a unit prefix, which is decimal: 32.768 Kbyte are 32,768 bytes.
func unitPrefixFactor(letter byte) (factor float64, ok bool) {
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

// BaseValue returns the value in base units: bytes, seconds, hertz, and per second for rates. Units without prefixes
// (%, inst, sector, plain numbers) stay unchanged.
func (m Metric) BaseValue() (float64, bool) {
	if !m.Measured {
		return 0, false
	}
	over, under, rate := strings.Cut(m.UnitName, "/")
	f, _ := splitUnit(over)
	if rate {
		g, _ := splitUnit(under)
		f /= g
	}
	return m.Value * f, true
}

// BaseUnit returns the unit of BaseValue: "byte", "s", "hz", "byte/s", "sector/s".
func (m Metric) BaseUnit() string {
	over, under, rate := strings.Cut(m.UnitName, "/")
	_, u := splitUnit(over)
	if rate {
		_, v := splitUnit(under)
		u += "/" + v
	}
	return u
}

// splitUnit splits a simple unit into factor and base. A unit without prefixes is its own base.
func splitUnit(unitName string) (float64, string) {
	if base, ok := baseUnitName(unitName); ok {
		return 1, base
	}
	if unitName == "" {
		return 1, unitName
	}
	factor, ok := unitPrefixFactor(unitName[0])
	base, scaled := baseUnitName(unitName[1:])
	if !ok || !scaled {
		return 1, unitName
	}
	return factor, base
}
