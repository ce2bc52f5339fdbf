package ncu

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"warpboard/e2e/fuzztest"
)

func TestTruncatedPagesNeverGiveHalfANumber(t *testing.T) {
	for _, name := range reports {
		full := pages(t, name)
		whole := ParsePages(full)
		for part := range 40 {
			cut := func(page []byte) []byte { return page[:len(page)*part/40+part] }
			r := ParsePages(CSVPages{DetailsPage: cut(full.DetailsPage), RawPage: cut(full.RawPage),
				SourcePage: cut(full.SourcePage)})
			for i := range r.Kernels {
				sameNumbers(t, &r.Kernels[i], whole.KernelByID(r.Kernels[i].ID))
			}
			if len(r.Warnings) == 0 {
				t.Errorf("%s cut at %d/40 gives no warning", name, part)
			}
		}
	}
}

// sameNumbers fails if a number of the damaged report differs from the whole one.
func sameNumbers(t *testing.T, damaged, whole *Kernel) {
	t.Helper()
	if whole == nil {
		t.Fatalf("kernel %d is not in the whole report", damaged.ID)
	}
	for name, m := range damaged.Metrics {
		if m.Measured && m != whole.Metric(name) {
			t.Errorf("%s is %+v, was %+v", name, m, whole.Metric(name))
		}
	}
	for _, s := range damaged.Sections {
		for _, row := range s.Rows {
			if row.Measured && row.Metric != whole.SectionValue(s.Name, row.Label) {
				t.Errorf("%s / %s is %+v", s.Name, row.Label, row.Metric)
			}
		}
	}
}

var anyNumber = regexp.MustCompile(`"-?[0-9][0-9,]*(\.[0-9]+)?"`)

func TestNaNIsNotMeasured(t *testing.T) {
	for _, word := range []string{"nan", "n/a", "", "-nan", "inf", "no data", "(!) nan"} {
		page := fixture(t, "cuda4", "raw")
		lines := bytes.SplitAfter(page, []byte("\n"))
		for i := 2; i < len(lines); i++ {
			// The ID in the first column is not replaced, so that the row still counts as a kernel.
			head, rest, _ := bytes.Cut(lines[i], []byte(","))
			lines[i] = append(append(head, ','), anyNumber.ReplaceAll(rest, []byte(`"`+word+`"`))...)
		}
		r := ParsePages(CSVPages{RawPage: bytes.Join(lines, nil)})
		if len(r.Kernels) != 4 || len(r.Warnings) == 0 {
			t.Fatalf("%q: %d kernels, warnings %v", word, len(r.Kernels), r.Warnings)
		}
		for i := range r.Kernels {
			k := &r.Kernels[i]
			for name, m := range k.Metrics {
				if m.Measured || m.Value != 0 {
					t.Errorf("%q: %s is measured: %+v", word, name, m)
				}
			}
			b, err := json.Marshal(ViewsOf(k))
			if err != nil || strings.Contains(string(b), `"value":0`) {
				t.Errorf("%q: a view shows a number that no one measured: %v", word, err)
			}
			if got := DeviceMetrics(k); len(got) != 0 {
				t.Errorf("%q: device metrics %v", word, got)
			}
		}
	}
}

func TestForeignVersions(t *testing.T) {
	old := `==PROF== Connected to process 4
==PROF== Disconnected
"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","gpu__time_duration.sum","dram__bytes_read.sum","smsp__future_counter.sum"
"","","","","","","","","usecond","Mbyte","furlong"
"0","1","k","h","saxpy","2021-Jan-01","1","7","57.70","134.23","1,234"
`
	r := ParsePages(CSVPages{RawPage: []byte(old)})
	k := r.Kernels[0]
	if ns, ok := k.Duration(); !ok || ns < 57699 || ns > 57701 {
		t.Errorf("duration %v %v", ns, ok)
	}
	if m := k.Metric("smsp__future_counter.sum"); m.Value != 1234 || m.UnitName != "furlong" {
		t.Errorf("an unknown metric was lost: %+v", m)
	}
	if len(r.Warnings) == 0 {
		t.Error("missing pages and counters are not warned of")
	}
	for name, page := range map[string]string{
		"no header": "\"0\",\"1\"\n", "another table": "a;b;c\n1;2;3\n", "words": "ncu: command not found\n",
		"nothing":  "",
		"no units": "\"ID\",\"Kernel Name\",\"x\"\n\"0\",\"f\",\"1\"\n",
		"odd id":   "\"ID\",\"Kernel Name\",\"x\"\n\"\",\"\",\"\"\n\"zero\",\"f\",\"1\"\n",
	} {
		if r := ParsePages(CSVPages{RawPage: []byte(page), DetailsPage: []byte(page),
			SourcePage: []byte(page)}); len(r.Warnings) == 0 {
			t.Errorf("%s: no warning", name)
		}
	}
}

func TestOnlyThousandsAreSeparated(t *testing.T) {
	for text, want := range map[string]float64{"1,234": 1234, "-12,345,678.5": -12345678.5, "0.25": 0.25,
		"1.5e-3": 0.0015, "824103": 824103} {
		if m := NewMetric(text, ""); !m.Measured || m.Value != want {
			t.Errorf("%q is %+v", text, m)
		}
	}
	for _, text := range []string{"65,97", "0,250", "0,1,2", "1.234,56", "1234,567", ",123", "1,23,456", "1\u00a0234",
		"1'234", "e", ",", "--1"} {
		if m := NewMetric(text, ""); m.Measured {
			t.Errorf("%q is read as %v", text, m.Value)
		}
	}
}

func TestAPageOfAnotherLanguageGivesNoNumbers(t *testing.T) {
	swap := strings.NewReplacer(".", ",", ",", ".")
	numbers := func(page []byte) []byte {
		return anyNumber.ReplaceAllFunc(page, func(b []byte) []byte { return []byte(swap.Replace(string(b))) })
	}
	for _, name := range reports {
		p := pages(t, name)
		r := ParsePages(CSVPages{RawPage: numbers(p.RawPage), DetailsPage: numbers(p.DetailsPage)})
		if len(r.Kernels) != 0 || len(r.Warnings) != 3 || !strings.Contains(r.Warnings[0], "LC_ALL=C") {
			t.Errorf("%s: %d kernels, warnings %q", name, len(r.Kernels), r.Warnings)
		}
	}
}

func FuzzParse(f *testing.F) {
	fuzztest.Moment(f)
	for _, name := range reports {
		p := pages(f, name)
		f.Add(p.DetailsPage[:4000], p.RawPage[:6000], p.SourcePage[:4000],
			[]byte("\"Line No\",\"Source\",\"Address\",\"Source\"\n1,x,0x1,y\n"))
	}
	f.Add([]byte("\"ID\",\"Section Name\"\n"), []byte("ID,Kernel Name\n,\n1,\"<\"\n"),
		[]byte("\"Kernel Name\",\"f\"\nAddress,Source,a\n0x1,N,1,2\n"), []byte{0xef, 0xbb, 0xbf})
	f.Fuzz(func(t *testing.T, details, raw, source, lines []byte) {
		r := ParsePages(CSVPages{DetailsPage: details, RawPage: raw, SourcePage: source, SourceLines: lines})
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		for i := range r.Kernels {
			k := &r.Kernels[i]
			if _, err := json.Marshal(ViewsOf(k)); err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(DeviceMetrics(k)); err != nil {
				t.Fatal(err)
			}
			BottleneckSentence(k)
		}
		if _, err := json.Marshal(CompareReports(r, r)); err != nil {
			t.Fatal(err)
		}
	})
}
