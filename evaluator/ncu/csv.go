package ncu

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"slices"
)

// maxCSVRows limits the rows of one CSV page, far above any real report.
const maxCSVRows = 500_000

// csvRecords parses a CSV page leniently: rows may differ in length, quotes may be invalid, and "==PROF==" lines of ncu
// may precede the table. cut reports whether the last line has no line break, because ncu was stopped while writing it.
// Such a line is dropped, because half a number looks like a number.
func csvRecords(page []byte) (rows [][]string, cut bool) {
	page = bytes.TrimPrefix(page, []byte("\xef\xbb\xbf"))
	if n := bytes.LastIndexByte(page, '\n') + 1; n < len(page) {
		page, cut = page[:n], true
	}
	r := csv.NewReader(bytes.NewReader(page))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	for len(rows) < maxCSVRows {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, cut
		}
		if err != nil {
			return rows, true
		}
		rows = append(rows, row)
	}
	return rows, true
}

// Patterns of decimal numbers in English and in many other languages. Three digits are excluded, because "1.234" and
// "1,234" are ambiguous.
var (
	decimalPointPattern = regexp.MustCompile(`^-?[0-9]+\.([0-9]{1,2}|[0-9]{4,})$`)
	decimalCommaPattern = regexp.MustCompile(`^-?[0-9]+,([0-9]{1,2}|[0-9]{4,})$`)
)

// usesDecimalCommas reports whether the numbers on a page have decimal commas, so that "1.234" is more than a thousand.
func usesDecimalCommas(rows [][]string) bool {
	commas := false
	for _, row := range rows {
		for _, cell := range row {
			if decimalPointPattern.MatchString(cell) {
				return false
			}
			commas = commas || decimalCommaPattern.MatchString(cell)
		}
	}
	return commas
}

// columnIndexes maps a header's names to their positions; the first of equal names wins.
func columnIndexes(header []string) map[string]int {
	at := make(map[string]int, len(header))
	for i, name := range header {
		if _, seen := at[name]; !seen {
			at[name] = i
		}
	}
	return at
}

// cellInColumn returns the row's value in the named column, or "" if either is missing.
func cellInColumn(row []string, at map[string]int, name string) string {
	i, ok := at[name]
	if !ok || i >= len(row) {
		return ""
	}
	return row[i]
}

// findHeaderRow returns the index of the header row, which has both names, or -1.
func findHeaderRow(rows [][]string, first, second string) int {
	for i, row := range rows {
		if hasAllColumns(row, first, second) {
			return i
		}
	}
	return -1
}

func hasAllColumns(row []string, names ...string) bool {
	for _, name := range names {
		if !slices.Contains(row, name) {
			return false
		}
	}
	return true
}
