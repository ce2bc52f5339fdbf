package ncu

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// modules returns the PTX of several modules: by nvcc 11.8 for two kernel templates, one with launch bounds, and for a
// kernel without a C++ name; and by Triton for a kernel that was compiled in two variants.
func modules(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/modules.ptx")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachKernelGetsItsPartOfThePTX(t *testing.T) {
	kernel := func(name string, threads int) Kernel {
		return Kernel{Name: name, ShortName: ShortName(name), BlockSize: [3]int{threads, 1, 1}, Source: &Source{}}
	}
	r := &Report{Kernels: []Kernel{
		kernel("plain", 32), kernel("bounded(float *)", 128),
		kernel("void <unnamed>::scale<(int)3>(float *, const float *, int)", 32),
		kernel("void scale<(int)4>(float *, const float *, int)", 32), kernel("row_kernel", 128),
		kernel("row_kernel", 256),
		kernel("row_kernel", 64), kernel("gemm_sm90", 128), {Name: "plain", ShortName: "plain"},
	}}
	r.AttachPTX(modules(t))
	var got []string
	for _, k := range r.Kernels {
		is := "none"
		if k.Source != nil && k.Source.PTX != "" {
			is = ptxEntryPattern.FindStringSubmatch(k.Source.PTX[strings.Index(k.Source.PTX,
				".address_size 64\n")+18:])[1]
			if n := strings.Count(k.Source.PTX, ".entry"); n != 1 || !strings.HasPrefix(k.Source.PTX, ".version") {
				t.Errorf("%s: the PTX has %d kernels and begins with %.20q", k.Name, n, k.Source.PTX)
			}
		}
		got = append(got, is)
	}
	want := "[plain _Z7boundedPf _ZN33_GLOBAL__N__bb64c591_4_a_cu_plain5scaleILi3EEEvPfPKfi " +
		"_ZN33_GLOBAL__N__bb64c591_4_a_cu_plain5scaleILi4EEEvPfPKfi row_kernel row_kernel none none none]"
	if fmt.Sprint(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "2 variants of row_kernel") {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

func TestLinesOfPTXKnowTheirSource(t *testing.T) {
	r := &Report{Kernels: []Kernel{{Name: "plain", ShortName: "plain", Source: &Source{}}}}
	r.AttachPTX(modules(t))
	var stores, others []PTXLine
	for _, l := range r.Kernels[0].Source.PTXLines() {
		if strings.Contains(l.Text, ".loc") || strings.Contains(l.Text, ".file") {
			t.Errorf("line %d is shown: %s", l.Number, l.Text)
		}
		if strings.Contains(l.Text, "st.global") {
			stores = append(stores, l)
		} else if l.SourceLine == 0 {
			others = append(others, l)
		}
	}
	if len(stores) != 1 || stores[0].SourceFile != "/in/submission.cu" || stores[0].SourceLine != 5 || len(others) < 5 ||
		others[0].Text != ".version 7.8" {
		t.Errorf("the store is %+v, others %+v", stores, others)
	}
}

func TestPTXThatIsCutOrForgedIsReadAsFarAsItGoes(t *testing.T) {
	whole := modules(t)
	for cut := 0; cut < len(whole); cut += 97 {
		r := &Report{Kernels: []Kernel{{Name: "plain", ShortName: "plain", Source: &Source{}}}}
		r.AttachPTX(whole[:cut])
		r.Kernels[0].Source.PTXLines()
	}
	large := ".version 8.0\n.entry plain(\n)\n{\n" + strings.Repeat("ret;\n", maxKernelPTX) + "}\n"
	for name, text := range map[string]string{"one kernel": large, "all": strings.Repeat(" ", MaxPTX)} {
		r := &Report{Kernels: []Kernel{{Name: "plain", ShortName: "plain", Source: &Source{}}}}
		if r.AttachPTX(text); r.Kernels[0].Source.PTX != "" || len(r.Warnings) != 1 {
			t.Errorf("%s: kept %d bytes, warned %q", name, len(r.Kernels[0].Source.PTX), r.Warnings)
		}
	}
}

// TestHostilePTXTakesNoMoreMemoryThanItIsLong: a submission can forge its PTX, and the worker parses it without a
// sandbox.
func TestHostilePTXTakesNoMoreMemoryThanItIsLong(t *testing.T) {
	doubling := "_Z1f1AIiiE" // each type has two type arguments: written out, 2²¹ names
	for i := range 20 {
		last := "S" + strings.ToUpper(strconv.FormatInt(int64(i), 36)) + "_"
		doubling += "S_I" + last + last + "E"
	}
	for name, text := range map[string]string{
		"a name that unfolds": ".version 8.0\n.entry " + doubling + "\n{\n}\n",
		"a head for each": ".version 8.0\n" +
			strings.Repeat(".file 1 \""+strings.Repeat("a", 2_000)+"\"\n", 200) + strings.Repeat(".entry a\n{}\n",
			2_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		entries := parsePTXKernels(text)
		runtime.ReadMemStats(&after)
		// The limit is generous, because regular expressions allocate more memory with the race detector.
		if took := after.TotalAlloc - before.TotalAlloc; len(entries) == 0 || took > 100<<20 {
			t.Errorf("%s: %d kernels in %d kB took %d MB", name, len(entries), len(text)>>10, took>>20)
		}
	}
}
