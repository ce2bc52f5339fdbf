package submissions_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestTheReportFileIsSentAsNcuWroteIt(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b, path := s.BrowserOf(s.Admin), webtest.ProfilePath(s.Second)+".ncu-rep"
	resp := b.Get(path, "Accept-Encoding", "identity")
	if text := webtest.Body(t, resp); text != string(webtest.WrittenReport) ||
		resp.ContentLength != int64(len(webtest.WrittenReport)) {
		t.Errorf("%d bytes, announced as %d, of %d", len(text), resp.ContentLength, len(webtest.WrittenReport))
	}
	named := fmt.Sprintf(`attachment; filename="run-%d-case-0.ncu-rep"`, s.Second.ID)
	if got := resp.Header.Get("Content-Disposition"); got != named ||
		resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%q of type %q, want %q", got, resp.Header.Get("Content-Type"), named)
	}
	if size, text := transfer(b, path); text != string(webtest.WrittenReport) || size >= len(text) {
		t.Errorf("for one who unpacks: %d bytes on the way, %d then", size, len(text))
	}
}

func TestPTXIsShownAndSentToThoseWhoMaySeeTheSource(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b, path := s.BrowserOf(s.Admin), webtest.ProfilePath(s.Second)
	doc := b.Page(path+"?kernel=1&show=ptx", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "#source", "ex2.approx.f32 %f2, %f1;")
	href := doc.Find(`.pf-downloads a[href*=".ptx"]`).AttrOr("href", "")
	resp := b.Get(href)
	webtest.WantStatus(t, resp, http.StatusOK)
	named := fmt.Sprintf(`attachment; filename="run-%d-case-0-kernel-1.ptx"`, s.Second.ID)
	if text := webtest.Body(t, resp); text != webtest.SoftmaxPTX[:len(
		".version 8.7\n.target sm_90a\n.address_size 64\n")]+"\n"+
		webtest.SoftmaxPTX[len(".version 8.7\n.target sm_90a\n.address_size 64\n"):] ||
		resp.Header.Get("Content-Disposition") != named {
		t.Errorf("%s holds %s", resp.Header.Get("Content-Disposition"), text)
	}
	webtest.WantStatus(t, b.Get(path+".ptx?kernel=0"), http.StatusNotFound)
	if text := webtest.Body(t, b.Get(path+".json")); !strings.Contains(text, "ex2.approx.f32") {
		t.Error("the JSON lacks the PTX")
	}
	visitor := s.Browser()
	webtest.WantStatus(t, visitor.Get(path+".ptx?kernel=1"), http.StatusForbidden)
	for _, ending := range []string{"?kernel=1&show=ptx", ".json", ".txt", ".csv"} {
		if text := webtest.Body(t, visitor.Get(path+ending)); strings.Contains(text, "ex2.approx") {
			t.Errorf("%s shows the program to others", ending)
		}
	}
}

func TestAReportFileOfAnEarlierWorkerIsSentAsItIs(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	resp := s.BrowserOf(s.Admin).Get(webtest.ProfilePath(s.Second) + ".ncu-rep?case=3")
	webtest.WantStatus(t, resp, http.StatusOK)
	if got := webtest.Body(t, resp); got != string(webtest.WrittenReport) {
		t.Errorf("%d bytes, want %d", len(got), len(webtest.WrittenReport))
	}
}

func TestADamagedReportFileIsReported(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b, path := s.BrowserOf(s.Admin), webtest.ProfilePath(s.Second)+".ncu-rep"
	whole := webtest.Pack(t, webtest.WrittenReport)
	wrongSum := bytes.Clone(whole)
	wrongSum[len(wrongSum)-8]++
	for name, data := range map[string][]byte{
		"cut off": whole[:len(whole)/2], "wrong sum": wrongSum, "not packed": webtest.WrittenReport, "empty": {},
	} {
		if err := os.WriteFile(reportPath(s, s.Second), data, 0o600); err != nil {
			t.Fatal(err)
		}
		resp := b.Get(path)
		webtest.WantStatus(t, resp, http.StatusInternalServerError)
		if text := webtest.Body(t, resp); !strings.Contains(text, "The report file of this case is damaged") ||
			resp.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %s as %q", name, text, resp.Header.Get("Content-Disposition"))
		}
	}
}

// reportPath returns the path of the report file of a run's first case.
func reportPath(s *webtest.ProfiledScene, run work.Run) string {
	return artifactPath(s, run, "profile.0.ncu-rep")
}

// artifactPath returns the path of a file from a run's profile whose name begins with name.
func artifactPath(s *webtest.ProfiledScene, run work.Run, name string) string {
	s.T.Helper()
	profile := modelstest.ProfileRun(s.T, s.Cfg.Store, run)
	of, err := s.Cfg.Store.Work.ArtifactsOf(context.Background(), profile.ID)
	if err != nil {
		s.T.Fatal(err)
	}
	kept := of[profile.ID]
	at := slices.IndexFunc(kept, func(a work.Artifact) bool { return strings.HasPrefix(a.Name, name) })
	f, err := s.Cfg.Store.Work.OpenArtifact(context.Background(), kept[at])
	if err != nil {
		s.T.Fatal(err)
	}
	defer f.Close()
	return f.(*os.File).Name()
}
