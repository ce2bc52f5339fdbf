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

// Page is a page of a report; testdata is the way from the test's folder to ncu's.
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

// PlainCSV reads a page without any of the product's code.
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
