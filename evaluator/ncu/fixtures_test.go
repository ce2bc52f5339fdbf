package ncu

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// reports names the fixtures: what ncu 2025.3.1 printed on an H200.
var reports = []string{"cuda4", "tri"}

func fixture(t testing.TB, report, page string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", report+"."+page+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func pages(t testing.TB, report string) Pages {
	t.Helper()
	return Pages{
		Version: "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880)",
		Details: fixture(t, report, "details"), Raw: fixture(t, report, "raw"), Source: fixture(t, report, "source"),
	}
}

// plainCSV reads a page without any of the package's own code.
func plainCSV(t testing.TB, page []byte) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(page))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
