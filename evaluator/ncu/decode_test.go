package ncu

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/costtest"
)

func TestAReportIsDecodedAsItWasWritten(t *testing.T) {
	for _, name := range reports {
		want := ParsePages(pages(t, name))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, size, err := DecodeReport(strings.NewReader(string(text)))
		if err != nil || size != int64(len(text)) {
			t.Errorf("%s: %d of %d bytes, %v", name, size, len(text), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `{`, `{"kernels":[{}`, `{"kernels":[{}]`, `{"kernels":{}}`,
		`{"kernels":[1]}`} {
		if _, _, err := DecodeReport(strings.NewReader(text)); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s is read: %v", text, err)
		}
	}
}

func many(before, one, behind string, n int) string {
	return before + strings.Repeat(one+",", n-1) + one + behind
}

// TestNoTextThatIsNoReportCostsMoreThanARequestMay checks the memory for decoding texts that an attacker with a
// worker's stolen secret could send as a report.
func TestNoTextThatIsNoReportCostsMoreThanARequestMay(t *testing.T) {
	const size = 30 << 20
	for name, text := range map[string]string{
		"kernels":       many(`{"kernels":[`, `{}`, `]}`, size/3),
		"fewer kernels": many(`{"kernels":[`, `{}`, `]}`, maxReportObjects-1),
		"lines":         many(`{"kernels":[{"source":{"lines":[`, `{}`, `]}}]}`, size/3),
		"cells":         many(`{"kernels":[{"source":{"lines":[{"cells":[`, `""`, `]}]}}]}`, size/3),
		"warnings":      many(`{"kernels":[],"warnings":[`, `""`, `]}`, size/3),
		"a name":        `{"kernels":[{"name":"` + strings.Repeat("x", size) + `"}]}`,
	} {
		costtest.Check(t, name, func() {
			if _, _, err := DecodeReport(strings.NewReader(text)); !errors.Is(err, ErrUnreadable) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestADecodedReportFillsNoMemory(t *testing.T) {
	for name, text := range map[string]string{
		"lines":    many(`{"kernels":[{"source":{"lines":[`, `{}`, `]}}]}`, maxReportObjects-3),
		"sections": many(`{"kernels":[{"sections":[`, `{}`, `]}]}`, maxReportObjects-2),
		"cells":    many(`{"kernels":[{"source":{"lines":[{"cells":[`, `""`, `]}]}}]}`, maxCommas),
		"warnings": many(`{"kernels":[],"warnings":[`, `""`, `]}`, maxCommas),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := DecodeReport(strings.NewReader(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > 256<<20 {
			t.Errorf("%s: %d MiB for %d MiB of text, %v", name, used>>20, len(text)>>20, err)
		}
	}
}
