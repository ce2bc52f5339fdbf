package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"warpboard/models"
)

func TestTheReportFileIsSentAsNcuWroteIt(t *testing.T) {
	s := newProfiledScene(t)
	b, path := s.browserOf(s.admin), profilePath(s.second)+".ncu-rep"
	resp := b.get(path, "Accept-Encoding", "identity")
	if text := body(t, resp); text != string(writtenReport) || resp.ContentLength != int64(len(writtenReport)) {
		t.Errorf("%d bytes, announced as %d, of %d", len(text), resp.ContentLength, len(writtenReport))
	}
	named := fmt.Sprintf(`attachment; filename="run-%d-case-0.ncu-rep"`, s.second.ID)
	if got := resp.Header.Get("Content-Disposition"); got != named || resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%q of type %q, want %q", got, resp.Header.Get("Content-Type"), named)
	}
	if size, text := b.transfer(path); text != string(writtenReport) || size >= len(text) {
		t.Errorf("for one who unpacks: %d bytes on the way, %d then", size, len(text))
	}
}

func TestAReportFileOfAnEarlierWorkerIsSentAsItIs(t *testing.T) {
	s := newProfiledScene(t)
	resp := s.browserOf(s.admin).get(profilePath(s.second) + ".ncu-rep?case=3")
	wantStatus(t, resp, http.StatusOK)
	if got := body(t, resp); got != string(writtenReport) {
		t.Errorf("%d bytes, want %d", len(got), len(writtenReport))
	}
}

func TestADamagedReportFileIsSaidToBeDamaged(t *testing.T) {
	s := newProfiledScene(t)
	b, path := s.browserOf(s.admin), profilePath(s.second)+".ncu-rep"
	whole := pack(t, writtenReport)
	wrongSum := bytes.Clone(whole)
	wrongSum[len(wrongSum)-8]++
	for name, data := range map[string][]byte{
		"cut off": whole[:len(whole)/2], "wrong sum": wrongSum, "not packed": writtenReport, "empty": {},
	} {
		if err := os.WriteFile(s.reportPath(s.second), data, 0o600); err != nil {
			t.Fatal(err)
		}
		resp := b.get(path)
		wantStatus(t, resp, http.StatusInternalServerError)
		if text := body(t, resp); !strings.Contains(text, "The report file of this case is damaged") || resp.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %s as %q", name, text, resp.Header.Get("Content-Disposition"))
		}
	}
}

// reportPath is where the report file of a run's first case lies.
func (s *profiledScene) reportPath(run models.Run) string {
	s.t.Helper()
	profile, err := s.Store.ProfileRun(context.Background(), run)
	if err != nil {
		s.t.Fatal(err)
	}
	kept, err := s.Store.Artifacts(context.Background(), profile.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	at := slices.IndexFunc(kept, func(a models.Artifact) bool { return strings.HasPrefix(a.Name, "profile.0.ncu-rep") })
	f, err := s.Store.OpenArtifact(context.Background(), kept[at])
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	return f.(*os.File).Name()
}
