package ncutest

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Page returns a page of a report. testdata is the path of the directory with the pages.
func Page(t testing.TB, testdata, report, page string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(testdata, report+"."+page+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// PlainCSV parses a page with encoding/csv, so that tests do not depend on the parser of package ncu.
func PlainCSV(t testing.TB, page []byte) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(page))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
