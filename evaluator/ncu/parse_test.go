package ncu

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/ncu/ncutest"
)

func TestEveryRawCellIsKept(t *testing.T) {
	for _, name := range reports {
		r := ParsePages(pages(t, name))
		rows := ncutest.PlainCSV(t, fixture(t, name, "raw"))
		if len(r.Kernels) != len(rows)-2 || len(r.Warnings) != 0 {
			t.Fatalf("%s: %d kernels, warnings %v", name, len(r.Kernels), r.Warnings)
		}
		checked := 0
		for i, row := range rows[2:] {
			k := r.Kernels[i]
			for c, metric := range rows[0] {
				m, ok := k.Metrics[metric]
				if !ok {
					continue
				}
				checked++
				if m.Text != row[c] || m.UnitName != rows[1][c] {
					t.Errorf("%s %s: %q %q, want %q %q", name, metric, m.Text, m.UnitName, row[c], rows[1][c])
				}
				want, err := strconv.ParseFloat(strings.ReplaceAll(row[c], ",", ""), 64)
				if measured := err == nil && row[c] != "nan"; m.Measured != measured || measured && m.Value != want {
					t.Errorf("%s %s: value %v (measured %v) of %q", name, metric, m.Value, m.Measured, row[c])
				}
			}
			if len(k.Metrics) != 2227 {
				t.Errorf("%s: kernel %d has %d metrics", name, k.ID, len(k.Metrics))
			}
		}
		if checked < 4000 {
			t.Fatalf("%s: only %d cells were checked", name, checked)
		}
	}
}

func TestEveryDetailsRowIsKept(t *testing.T) {
	for _, name := range reports {
		r := ParsePages(pages(t, name))
		rows := ncutest.PlainCSV(t, fixture(t, name, "details"))
		at := columnIndexes(rows[0])
		numbers, rules := 0, 0
		for _, row := range rows[1:] {
			id, _ := strconv.Atoi(row[0])
			k := r.KernelByID(id)
			if label := row[at["Metric Name"]]; label != "" {
				numbers++
				got := k.SectionValue(row[at["Section Name"]], label)
				if got.Text != row[at["Metric Value"]] || got.UnitName != row[at["Metric Unit"]] {
					t.Errorf("%s %s: %+v", name, label, got)
				}
				continue
			}
			rules++
		}
		total := 0
		for _, k := range r.Kernels {
			total += len(k.Rules)
		}
		if numbers == 0 || rules == 0 || total != rules {
			t.Errorf("%s: %d numbers, %d rules of %d", name, numbers, total, rules)
		}
	}
}

func TestEveryInstructionIsKept(t *testing.T) {
	want := map[string][]int{"cuda4": {32, 208, 32, 64}, "tri": {1208, 512}}
	for _, name := range reports {
		r := ParsePages(pages(t, name))
		rows := ncutest.PlainCSV(t, fixture(t, name, "source"))
		cells := map[string][]string{}
		for _, row := range rows {
			if strings.HasPrefix(row[0], "0x") {
				cells[row[0]] = row
			}
		}
		for i, k := range r.Kernels {
			if got := len(k.Source.Lines); got != want[name][i] {
				t.Errorf("%s kernel %d: %d instructions, want %d", name, i, got, want[name][i])
			}
			for _, l := range k.Source.Lines {
				row := cells[l.Address]
				if l.Instruction != row[1] || !cmp.Equal(l.CounterValues, row[2:]) {
					t.Fatalf("%s %s differs from the page", name, l.Address)
				}
			}
		}
	}
}

func TestKernelsAreIdentified(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	k := r.Kernels[1]
	type identity struct {
		ID          int
		Short       string
		Grid, Block [3]int
		Device, CC  string
	}
	got := identity{k.ID, k.ShortName, k.GridSize, k.BlockSize, k.Device, k.ComputeCapability}
	want := identity{1, "matmul_naive", [3]int{64, 64, 1}, [3]int{16, 16, 1}, "NVIDIA H200", "9.0"}
	if got != want || r.Version != "2025.3.1.0" {
		t.Errorf("%+v, version %q", got, r.Version)
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"saxpy(int, float, const float *, float *)":      "saxpy",
		"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT": "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char *, 1>>(int, T2, T3)": "vectorized_elementwise_kernel",
		"void (anonymous namespace)::scan<int>(T1 *)": "scan",
		"weird<name": "weird<name",
		"":           "",
	} {
		if got := ShortName(name); got != want {
			t.Errorf("ShortName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestReportSurvivesStorage(t *testing.T) {
	for _, name := range reports {
		r := ParsePages(pages(t, name))
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Report
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, &back); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLaunchesOfOneNameGetTheirOwnTables(t *testing.T) {
	raw := "\"ID\",\"Kernel Name\",\"m\"\n\"\",\"\",\"\"\n\"0\",\"f\",\"1\"\n\"1\",\"f\",\"2\"\n"
	table := func(samples string) string {
		return "\"Kernel Name\",\"f\"\n\"Address\",\"Source\",\"# Samples\"\n\"0x10\",\"NOP\",\"" + samples + "\"\n"
	}
	for _, source := range []string{table("1") + table("2"), table("1") + table("1") + table("2") + table("2")} {
		r := ParsePages(CSVPages{RawPage: []byte(raw), SourcePage: []byte(source)})
		for i, want := range []float64{1, 2} {
			if got := r.Kernels[i].Source.CounterOnLine(0, "# Samples").Value; got != want {
				t.Errorf("launch %d has %v samples, want %v", i, got, want)
			}
		}
	}
}

// sourceForms returns the forms in which ncu prints one instruction on its source page, by --print-source and version.
func sourceForms() map[string]string {
	return map[string]string{
		"sass":                   "\"Kernel Name\",\"f\"\n\"Address\",\"Source\",\"# Samples\",\"stall_wait\"\n\"0x10\",\"NOP\",\"3\",\"2\"\n",
		"sass, rows numbered":    "\"Function Name\",\"f\"\n\"#\",\"Address\",\"Source\",\"# Samples\",\"stall_wait\"\n\"1\",\"0x10\",\"NOP\",\"3\",\"2\"\n",
		"cuda,sass":              "\"File Path\",\"/s.cu\"\n\"Function Name\",\"f\"\n\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\",\"stall_wait\"\n\"7\",\"x;\",\"-\",\"-\",\"3\",\"2\"\n\"\",\"\",\"0x10\",\"NOP\",\"3\",\"2\"\n",
		"cuda,sass in one row":   "\"File Path\",\"/s.cu\"\n\"Function Name\",\"f\"\n\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\",\"stall_wait\"\n\"7\",\"x;\",\"0x10\",\"NOP\",\"3\",\"2\"\n",
		"cuda,sass, # for lines": "\"File Path\",\"/s.cu\"\n\"Function Name\",\"f\"\n\"#\",\"Source\",\"#\",\"Address\",\"Source\",\"# Samples\",\"stall_wait\"\n\"7\",\"x;\",\"1\",\"0x10\",\"NOP\",\"3\",\"2\"\n",
	}
}

func TestEveryFormOfTheSourcePageIsRead(t *testing.T) {
	raw := []byte("\"ID\",\"Kernel Name\",\"m\"\n\"\",\"\",\"\"\n\"0\",\"f\",\"1\"\n")
	for form, page := range sourceForms() {
		k := ParsePages(CSVPages{RawPage: raw, SourcePage: []byte(page), SourceLines: []byte(page)}).Kernels[0]
		if k.Source == nil || len(k.Source.Lines) != 1 {
			t.Errorf("%s: %+v", form, k.Source)
			continue
		}
		l, samples, stalls := k.Source.Lines[0], k.Source.CounterOnLine(0, "# Samples"), k.Source.CounterOnLine(0,
			"stall_wait")
		if l.Address != "0x10" || l.Instruction != "NOP" || samples.Value != 3 || stalls.Value != 2 {
			t.Errorf("%s: %+v, %v samples, %v of wait", form, l, samples.Value, stalls.Value)
		}
		if lines := strings.Contains(page, "Line No"); lines && (l.SourceFile != "/s.cu" || l.SourceLine != 7 || l.SourceText != "x;") ||
			!lines && l.SourceLine != 0 {
			t.Errorf("%s: line %d of %q", form, l.SourceLine, l.SourceFile)
		}
	}
	for form, page := range map[string]string{
		"cuda": "\"File Path\",\"/s.cu\"\n\"Function Name\",\"f\"\n\"Line No\",\"Source\",\"# Samples\"\n\"7\",\"x;\",\"3\"\n",
		"ptx":  "\"Kernel Name\",\"f\"\n\"#\",\"Source\",\"# Samples\"\n\"1\",\"ret;\",\"3\"\n",
	} {
		if k := ParsePages(CSVPages{RawPage: raw, SourcePage: []byte(page), SourceLines: []byte(page)}).Kernels[0]; k.Source != nil &&
			len(k.Source.Lines) != 0 {
			t.Errorf("%s has no instructions, but gives %+v", form, k.Source.Lines)
		}
	}
}

func TestInstructionsAreFoundByAFullName(t *testing.T) {
	table := func(name, sass string) string {
		return fmt.Sprintf("\"Kernel Name\",%q\n\"Address\",\"Source\",\"# Samples\"\n\"0x10\",%q,\"3\"\n", name, sass)
	}
	raw := "\"ID\",\"Kernel Name\",\"m\"\n\"\",\"\",\"\"\n" +
		"\"0\",\"void add<8, Half>(int, T2)\",\"1\"\n\"1\",\"plain(int)\",\"1\"\n\"2\",\"void add<4, Half>(int, T2)\",\"1\"\n\"3\",\"add(int)\",\"1\"\n"
	source := table("void at::native::add<(int)8, c10::Half>(int, T2)", "FIRST") + table("plain(int)", "SECOND") +
		table("void at::native::add<(int)4, c10::Half>(int, T2)", "THIRD") + table("add(int)", "FOURTH")
	r := ParsePages(CSVPages{RawPage: []byte(raw), SourcePage: []byte(source)})
	for i, want := range []string{"FIRST", "SECOND", "THIRD", "FOURTH"} {
		if got := r.Kernels[i].Source; got == nil || len(got.Lines) != 1 || got.Lines[0].Instruction != want {
			t.Errorf("kernel %d (%s): %+v, want %s", i, r.Kernels[i].Name, got, want)
		}
	}
}

func TestInstructionsAreLinkedToTheirSourceLines(t *testing.T) {
	p := pages(t, "cuda4")
	address := ParsePages(p).Kernels[0].Source.Lines[16].Address
	p.SourceLines = []byte("\"File Path\",\"/job/submission.cu\"\n\"Function Name\",\"saxpy\"\n" +
		"\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\"\n" +
		"\"7\",\"  y[i] = a * x[i] + y[i];\",\"-\",\"\",\"5960\"\n\"\",\"\",\"" + address + "\",\"FFMA\",\"5960\"\n")
	got := ParsePages(p).Kernels[0].Source.Lines[16]
	if got.SourceFile != "/job/submission.cu" || got.SourceLine != 7 || strings.TrimSpace(got.SourceText) != "y[i] = a * x[i] + y[i];" {
		t.Errorf("%+v", got)
	}
	if other := ParsePages(p).Kernels[0].Source.Lines[0]; other.SourceLine != 0 {
		t.Errorf("an instruction without line information has one: %+v", other)
	}
}
