package popcorn

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

func TestAReportFileIsTheSameInAZip(t *testing.T) {
	const report = "a report of Nsight Compute"
	for name, head := range map[string]gzip.Header{"plain": {},
		"with a name": {Name: "report", Comment: "of a worker"}} {
		var packed, zipped bytes.Buffer
		out := gzip.NewWriter(&packed)
		out.Header = head
		_, _ = out.Write([]byte(report))
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(&zipped)
		if err := addGzipToZip(z, "x.ncu-rep", packed.Bytes(), true); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		in, err := zip.NewReader(bytes.NewReader(zipped.Bytes()), int64(zipped.Len()))
		if err != nil {
			t.Fatal(err)
		}
		file, err := in.Open("x.ncu-rep")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(file); err != nil || string(text) != report {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestAReportFileThatIsCutShortIsKeptAsItIs checks that an incomplete gzip file, which a faulty worker may send, is
// added to the zip without an error.
func TestAReportFileThatIsCutShortIsKeptAsItIs(t *testing.T) {
	var packed bytes.Buffer
	if err := gzip.NewWriter(&packed).Close(); err != nil {
		t.Fatal(err)
	}
	for size := range packed.Len() {
		z := zip.NewWriter(io.Discard)
		if err := addGzipToZip(z, "x.ncu-rep", packed.Bytes()[:size], true); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
