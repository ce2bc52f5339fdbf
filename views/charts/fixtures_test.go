package charts

import (
	"bytes"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/ncutest"
)

// fixture returns one page of a stored report, as ncu printed it.
func fixture(t testing.TB, report, page string) []byte {
	t.Helper()
	return ncutest.Page(t, "../../evaluator/ncu/testdata", report, page)
}

func report(t testing.TB, name string) *ncu.Report {
	t.Helper()
	return ncu.ParsePages(ncu.CSVPages{
		Version: "2025.3.1.0", DetailsPage: fixture(t, name, "details"), RawPage: fixture(t, name, "raw"),
		SourcePage: fixture(t, name, "source"),
	})
}

func render(t testing.TB, c templ.Component) (*goquery.Document, string) {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc, b.String()
}

// detailsOf returns the view model of a kernel's profile page with every optional part and link.
func detailsOf(r *ncu.Report, kernel int) ProfileView {
	return ProfileView{
		PagePath: "/runs/12/profile", Query: Query{Kernel: kernel, MetricsPage: 1, CodePage: 1}, Report: r,
		Cases: []CaseTab{{0, "size: 1024; seed: 1"}, {1, "size: 4096; seed: 2"}},
		OtherDots: []RooflineDot{{RunID: 3, Name: "ada", URL: "/runs/3", Rate: 2e12, Intensity: 40},
			{RunID: 4, Name: "grace", URL: "/runs/4", Rate: 9e12, Intensity: 0.9}},
		SourceURLs:  map[string]string{"submission.cu": "/runs/12/source/submission.cu#"},
		DownloadURL: "/runs/12/profile.ncu-rep?case=0", JSONURL: "/runs/12/profile.json", CSVURL: "/runs/12/profile.csv",
	}
}
