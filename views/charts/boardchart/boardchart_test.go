package boardchart

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
)

func TestARecordLineGoesDownWithEachRecord(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	d := drawChart(Chart{RecordSteps: []Step{
		{SetAt: at, ScoreNS: 1000, Name: "Ada"}, {SetAt: at.Add(24 * time.Hour), ScoreNS: 100, Name: "Ben"},
		{SetAt: at.Add(48 * time.Hour), ScoreNS: 10, Name: "Cleo"}}})
	if d.CurvePath != "M2.00 9.68H48.00V50.00H94.00V90.32H100" || d.AreaPath != d.CurvePath+"V100H2.00Z" {
		t.Errorf("the line is %s, the area %s", d.CurvePath, d.AreaPath)
	}
	want := []recordPoint{
		{X: "2.00%", Y: "9.68%", Title: "1.000\u00a0µs, Ada, 1 Jan 2030, 00:00 UTC", Name: "Ada"},
		{X: "48.00%", Y: "50.00%", Title: "100.0\u00a0ns, Ben, 2 Jan 2030, 00:00 UTC", Name: "Ben"},
		{X: "94.00%", Y: "90.32%", Title: "10.00\u00a0ns, Cleo, 3 Jan 2030, 00:00 UTC", Name: "Cleo",
			NameEndsAtPoint: true,
			IsNameBelow:     true, NameShownOnPhone: true},
	}
	if diff := cmp.Diff(want, d.Points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if d := drawChart(Chart{RecordSteps: []Step{{SetAt: time.Unix(0, 0),
		ScoreNS: 500}}}); d.CurvePath != "M2.00 50.00H100" ||
		!d.SameDay {
		t.Errorf("one record gives the line %s from %s to %s", d.CurvePath, d.FirstTime, d.LastTime)
	}
}

// TestRecordsWithinAnHourAreDatedToTheSecond checks that other records have no seconds.
func TestRecordsWithinAnHourAreDatedToTheSecond(t *testing.T) {
	at := time.Date(2030, 1, 1, 10, 0, 5, 0, time.UTC)
	for apart, want := range map[time.Duration]string{40 * time.Second: "10:00:45 UTC", time.Hour: "11:00 UTC",
		24 * time.Hour: "2 Jan 2030"} {
		var page bytes.Buffer
		if err := Draw(Chart{RecordSteps: []Step{{SetAt: at, ScoreNS: 1000},
			{SetAt: at.Add(apart), ScoreNS: 100}}}).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), ">"+want+"</time>") {
			t.Errorf("%s apart, no time is %s:\n%s", apart, want, page.String())
		}
	}
}

// TestNamesDoNotLieOnEachOther checks that among records too close for all names, the latest ones have names.
func TestNamesDoNotLieOnEachOther(t *testing.T) {
	var steps []Step
	for i := range 40 {
		steps = append(steps, Step{SetAt: time.Unix(int64(i), 0), ScoreNS: 1000 - float64(i), Name: "Barbara Liskov"})
	}
	var named []int
	for i, p := range drawChart(Chart{RecordSteps: steps}).Points {
		if p.Name != "" {
			named = append(named, i)
		}
	}
	if len(named) < 3 || len(named) > 12 || named[len(named)-1] != 39 {
		t.Errorf("of 40 records these have names: %v", named)
	}
}

// TestALineAndARecordKeepTheirNames checks that a baseline near the record has its name at another position, in a wide
// window and on a phone.
func TestALineAndARecordKeepTheirNames(t *testing.T) {
	for ns := 1.0; ns < 4; ns += 0.01 {
		d := drawChart(Chart{RecordSteps: []Step{{SetAt: time.Unix(0, 0), ScoreNS: 2e6, Name: "Jonas Weber"}},
			Lines: []Line{{ScoreNS: ns * 1e6, Label: "naive"}}})
		if !d.LineMarks[0].ShownOnPhone || d.LineMarks[0].Label == "" || !d.Points[0].NameShownOnPhone ||
			d.Points[0].Name == "" {
			t.Fatalf("with a baseline of %.2f ms, the line is %+v, the record %+v", ns, d.LineMarks[0], d.Points[0])
		}
	}
}

// TestEveryDotHasALane checks that dots with almost the same score are in different columns, and that dots without a
// free column are omitted.
func TestEveryDotHasALane(t *testing.T) {
	d := drawChart(Chart{Dots: []Dot{{ScoreNS: 100, EntryCount: 1, URL: "/a"},
		{ScoreNS: 100.1, EntryCount: 2, URL: "/b"},
		{ScoreNS: 1000, EntryCount: 1, URL: "/c", IsOwn: true}},
		Lines: []Line{{ScoreNS: 50, Label: "limit", IsLimit: true}}})
	var at []string
	for _, dot := range d.Dots {
		at = append(at, dot.X+" "+dot.URL)
	}
	if diff := cmp.Diff([]string{"6.25% /a", "18.75% /b", "6.25% /c"}, at); diff != "" {
		t.Errorf("dots (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(d.UnlinkedDotsPath, "m31.3 ") || len(d.LineMarks) != 1 || !d.LineMarks[0].IsLimit {
		t.Errorf("the rest is %q, the lines are %+v", d.UnlinkedDotsPath, d.LineMarks)
	}
	if behind := drawChart(Chart{Dots: []Dot{{ScoreNS: 100, EntryCount: 1, URL: "/a"},
		{ScoreNS: 101, EntryCount: 1}}}); len(behind.Dots) != 1 {
		t.Errorf("an entry of another page is a link to nowhere: %+v", behind.Dots)
	}
	crowd := drawChart(Chart{Dots: []Dot{{ScoreNS: 100, EntryCount: 1_000_000}, {ScoreNS: 101, EntryCount: 1}}})
	if n := len(crowd.Dots) + strings.Count(crowd.UnlinkedDotsPath, "m"); n < dotColumns || n > dotColumns+1 {
		t.Errorf("a million at one place are %d dots", n)
	}
}

// TestACrowdOfDotsIsSmall limits the compressed size of a chart with many dots, because a whole board page may have
// only 14 kB.
func TestACrowdOfDotsIsSmall(t *testing.T) {
	var dots []Dot
	for i := range 1000 {
		dots = append(dots, Dot{ScoreNS: 1e5 * math.Pow(1.005, float64(i)), EntryCount: 7})
	}
	d := drawChart(Chart{Dots: dots})
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, d.UnlinkedDotsPath); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(d.UnlinkedDotsPath, "m"); n < 400 || packed.Len() > 2*n {
		t.Errorf("%d dots take %d bytes, want 2 for each", n, packed.Len())
	}
	var x, y float64 // the relative moves must end at the last dot: rounding errors must not add up
	for _, move := range strings.Split(strings.TrimPrefix(strings.TrimSuffix(d.UnlinkedDotsPath, "h0"), "m"), "h0m") {
		var dx, dy float64
		if _, err := fmt.Sscan(move, &dx, &dy); err != nil {
			t.Fatal(err)
		}
		x, y = x+dx, y+dy
		if x < 0 || x > 100 || y < 0 || y > 100 {
			t.Fatalf("a dot is at %g, %g", x, y)
		}
	}
}

// FuzzBoardPicture checks that drawing a board terminates for all scores and times, and that the SVG is small and has
// only finite coordinates.
func FuzzBoardPicture(f *testing.F) {
	fuzztest.Moment(f)
	for _, a := range oddFloats {
		for _, b := range oddFloats {
			f.Add(a, b, int64(0), int64(time.Hour), 3)
		}
	}
	f.Fuzz(func(t *testing.T, first, last float64, began, ended int64, size int) {
		p := Chart{
			RecordSteps: []Step{{SetAt: time.Unix(0, began).UTC(), ScoreNS: first},
				{SetAt: time.Unix(0, ended).UTC(), ScoreNS: last}},
			Dots:  []Dot{{ScoreNS: last, EntryCount: size}, {ScoreNS: first, EntryCount: size}},
			Lines: []Line{{ScoreNS: first}},
		}
		var page bytes.Buffer
		if err := Draw(p).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		d := drawChart(p)
		places := d.CurvePath + d.AreaPath + d.UnlinkedDotsPath
		for _, one := range d.Points {
			places += one.X + one.Y
		}
		for _, one := range d.Dots {
			places += one.X + one.Y
		}
		for _, one := range d.LineMarks {
			places += one.Path + one.At
		}
		if strings.Contains(places, "NaN") || strings.Contains(places, "Inf") {
			t.Errorf("the picture of %g and %g has no places: %s", first, last, places)
		}
		if len(d.ScaleRows) > maxScaleLabels || page.Len() > 30_000 {
			t.Errorf("the picture of %g and %g has %d labels in %d bytes", first, last, len(d.ScaleRows), page.Len())
		}
	})
}

func TestChartIsLabelledWithRoundScores(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{
		{9.2e6, 11e6, "9.5 ms, 10 ms, 10.5 ms, 11 ms"},
		{47e3, 10.7e6, "100 µs, 300 µs, 1 ms, 3 ms, 10 ms"},
		{900, 2100, "1 µs, 2 µs"},
		{80e3, 83e3, "80 µs, 81 µs, 82 µs, 83 µs"},
		{1, 1e9, "1 ns, 100 ns, 10 µs, 1 ms, 100 ms"},
	} {
		var labels []string
		for _, score := range roundScaleScores(test.low, test.high) {
			labels = append(labels, strings.ReplaceAll(roundTime(score), "\u00a0", " "))
		}
		if got := strings.Join(labels, ", "); got != test.want {
			t.Errorf("from %g to %g the labels are %s, want %s", test.low, test.high, got, test.want)
		}
	}
}

// FuzzRoundScaleScores checks that there are at most six labels between any two numbers.
func FuzzRoundScaleScores(f *testing.F) {
	fuzztest.Moment(f)
	for _, low := range oddFloats {
		for _, high := range append(oddFloats, math.Nextafter(low, math.Inf(1)), low*1.1) {
			f.Add(low, high)
		}
	}
	f.Fuzz(func(t *testing.T, low, high float64) {
		scores := roundScaleScores(low, high)
		if len(scores) > maxScaleLabels {
			t.Errorf("between %g and %g there are %d labels", low, high, len(scores))
		}
		for _, s := range scores {
			if !(s >= low*(1-1e-9) && s <= high*(1+1e-9)) {
				t.Errorf("%g is not between %g and %g", s, low, high)
			}
		}
	})
}

// oddFloats are numbers that scale arithmetic often handles wrongly.
var oddFloats = []float64{
	0, -1, 1, 500, 1.1e-308, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(),
	1e-300, 1e300,
}
