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

	"warpboard/models/work"
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

func TestPTXIsShownAndSentToThoseWhoMaySeeTheSource(t *testing.T) {
	s := newProfiledScene(t)
	b, path := s.browserOf(s.admin), profilePath(s.second)
	doc := b.page(path+"?kernel=1&show=ptx", http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "#source", "ex2.approx.f32 %f2, %f1;")
	href := doc.Find(`.pf-downloads a[href*=".ptx"]`).AttrOr("href", "")
	resp := b.get(href)
	wantStatus(t, resp, http.StatusOK)
	named := fmt.Sprintf(`attachment; filename="run-%d-case-0-kernel-1.ptx"`, s.second.ID)
	if text := body(t, resp); text != softmaxPTX[:len(".version 8.7\n.target sm_90a\n.address_size 64\n")]+"\n"+softmaxPTX[len(".version 8.7\n.target sm_90a\n.address_size 64\n"):] ||
		resp.Header.Get("Content-Disposition") != named {
		t.Errorf("%s holds %s", resp.Header.Get("Content-Disposition"), text)
	}
	wantStatus(t, b.get(path+".ptx?kernel=0"), http.StatusNotFound)
	if text := body(t, b.get(path+".json")); !strings.Contains(text, "ex2.approx.f32") {
		t.Error("the JSON lacks the PTX")
	}
	visitor := s.browser()
	wantStatus(t, visitor.get(path+".ptx?kernel=1"), http.StatusForbidden)
	for _, ending := range []string{"?kernel=1&show=ptx", ".json", ".txt", ".csv"} {
		if text := body(t, visitor.get(path+ending)); strings.Contains(text, "ex2.approx") {
			t.Errorf("%s shows the program to others", ending)
		}
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
func (s *profiledScene) reportPath(run work.Run) string {
	return s.artifactPath(run, "profile.0.ncu-rep")
}

// artifactPath is where what a run's profile left lies, under a name that begins so.
func (s *profiledScene) artifactPath(run work.Run, name string) string {
	s.t.Helper()
	profile, err := s.site.Store.Work.ProfileRun(context.Background(), run)
	if err != nil {
		s.t.Fatal(err)
	}
	kept, err := s.site.Store.Work.Artifacts(context.Background(), profile.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	at := slices.IndexFunc(kept, func(a work.Artifact) bool { return strings.HasPrefix(a.Name, name) })
	f, err := s.site.Store.Work.OpenArtifact(context.Background(), kept[at])
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	return f.(*os.File).Name()
}
