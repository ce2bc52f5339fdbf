package runs

import (
	"testing"

	"warpboard/models/work"
)

func TestACaseFindsTheFileThatHoldsIt(t *testing.T) {
	p := Profile{files: map[string]work.Artifact{},
		ExtraKeys: map[string]string{"profile.7.ncu-rep.gz": "too large", "profile.8-9.ncu-rep.gz": "far too large",
			"ptxas": ""}}
	for _, name := range []string{"profile.0.json.gz", "profile.0-2.ncu-rep.gz", "profile.4.ncu-rep.gz",
		"profile.5.ncu-rep", "profile.5.json.gz", "profile.x.ncu-rep.gz"} {
		p.files[name] = work.Artifact{Name: name}
	}
	for index, want := range []string{
		"profile.0-2.ncu-rep.gz", "profile.0-2.ncu-rep.gz", "profile.0-2.ncu-rep.gz", "", "profile.4.ncu-rep.gz",
		"profile.5.ncu-rep", "",
		"too large", "far too large", "far too large",
	} {
		f, _ := p.ReportFile(index)
		if got := f.Name + p.ReportNote(index); got != want {
			t.Errorf("case %d: %q, want %q", index, got, want)
		}
	}
	if f, kept := p.ReportFile(1); !kept || f.FirstCase != 0 || f.LastCase != 2 {
		t.Errorf("cases %d to %d", f.FirstCase, f.LastCase)
	}
}
