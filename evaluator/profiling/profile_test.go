package profiling

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"testing"
)

// likeReport returns data with the size and compressibility of a report about a program with torch.
func likeReport(seed uint64) []byte {
	random := rand.NewChaCha8([32]byte{byte(seed)})
	data := bytes.Repeat([]byte("smsp__sass_thread_inst_executed_op_ffma_pred_on "), 7_000_000/48)
	for i := 0; i < len(data); i += 96 {
		random.Read(data[i : i+5]) // cannot fail: ChaCha8 never returns an error
	}
	return data
}

// TestAReportFileIsPackedWell checks the compression of reports: uncompressed, three cases of a program with torch
// exceed the maximum size of a message.
func TestAReportFileIsPackedWell(t *testing.T) {
	a, err := compressedArtifact("profile.0-2.ncu-rep", likeReport(2))
	if err != nil || a.Name != "profile.0-2.ncu-rep.gz" || a.Size != int64(len(a.Data)) || a.Size > 1_000_000 {
		t.Errorf("%s with %d of %d bytes, %v", a.Name, len(a.Data), a.Size, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(a.Data))
	if err != nil {
		t.Fatal(err)
	}
	if report, err := io.ReadAll(z); err != nil || !bytes.Equal(report, likeReport(2)) {
		t.Errorf("the report is another, %v", err)
	}
}
