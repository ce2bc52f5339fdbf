package web

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/ncu"
	"warpboard/models/work"
)

// TestNoReportFileCostsMoreThanARequestMay: the program under ncu can write one of its own making, which packs to a thousandth.
func TestNoReportFileCostsMoreThanARequestMay(t *testing.T) {
	s := newProfiledScene(t)
	s.replace(s.second, "profile.0.ncu-rep", make([]byte, ncu.MaxReport))
	b := s.browserOf(s.admin)
	for encoding, want := range map[string]int{"gzip": http.StatusOK, "identity": http.StatusNotAcceptable} {
		costtest.Check(t, "a report file, "+encoding, func() {
			resp := b.get(profilePath(s.second)+".ncu-rep", "Accept-Encoding", encoding)
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != want || n > 1<<20 {
				t.Errorf("%s: %s, %d bytes, %v", encoding, resp.Status, n, err)
			}
		})
	}
}

// TestADamagedReportSpoilsNoOtherProfile, which shows it on its roofline. What a worker sends can be far larger than it looks.
func TestADamagedReportSpoilsNoOtherProfile(t *testing.T) {
	s := newProfiledScene(t)
	s.replace(s.second, "profile.0.json", []byte(`{"kernels":[`+strings.Repeat("{},", 10<<20)+`{}]}`))
	b := s.browserOf(s.admin)
	costtest.Check(t, "a page beside a damaged report", func() { wantStatus(t, b.get(profilePath(s.first)), http.StatusOK) })
	resp := b.get(profilePath(s.second))
	wantStatus(t, resp, http.StatusInternalServerError)
	if text := body(t, resp); !strings.Contains(text, "The report file of this case is damaged") {
		t.Errorf("the page of a damaged report: %s", text)
	}
}

// replace puts a packed text in place of what a run's profile left.
func (s *profiledScene) replace(run work.Run, name string, text []byte) {
	s.t.Helper()
	if err := os.WriteFile(s.artifactPath(run, name), pack(s.t, text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}
