package submissions_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/ncu"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestNoReportFileCostsMoreThanARequestMay downloads the largest possible report file, which the profiled program can
// forge so that it compresses to a thousandth of its size.
func TestNoReportFileCostsMoreThanARequestMay(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	replace(s, s.Second, "profile.0.ncu-rep", make([]byte, ncu.MaxReport))
	b := s.BrowserOf(s.Admin)
	for encoding, want := range map[string]int{"gzip": http.StatusOK, "identity": http.StatusNotAcceptable} {
		costtest.Check(t, "a report file, "+encoding, func() {
			resp := b.Get(webtest.ProfilePath(s.Second)+".ncu-rep", "Accept-Encoding", encoding)
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != want || n > 1<<20 {
				t.Errorf("%s: %s, %d bytes, %v", encoding, resp.Status, n, err)
			}
		})
	}
}

// TestADamagedReportSpoilsNoOtherProfile checks that a forged report, which is small when compressed and very large
// when decoded, breaks only its own page, and not the profiles that show it as a dot in their rooflines.
func TestADamagedReportSpoilsNoOtherProfile(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	replace(s, s.Second, "profile.0.json", []byte(`{"kernels":[`+strings.Repeat("{},", 10<<20)+`{}]}`))
	b := s.BrowserOf(s.Admin)
	costtest.Check(t, "a page beside a damaged report",
		func() { webtest.WantStatus(t, b.Get(webtest.ProfilePath(s.First)), http.StatusOK) })
	resp := b.Get(webtest.ProfilePath(s.Second))
	webtest.WantStatus(t, resp, http.StatusInternalServerError)
	if text := webtest.Body(t, resp); !strings.Contains(text, "The report file of this case is damaged") {
		t.Errorf("the page of a damaged report: %s", text)
	}
}

// replace replaces a file of a run's profile by a compressed text.
func replace(s *webtest.ProfiledScene, run work.Run, name string, text []byte) {
	s.T.Helper()
	if err := os.WriteFile(artifactPath(s, run, name), webtest.Pack(s.T, text), 0o600); err != nil {
		s.T.Fatal(err)
	}
}
