package kernelrun

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"warpboard/tasks"
)

func TestTheProgramsOwnTests(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-W", "ignore", "testdata/test_program.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH=program")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOnlySourcesThatCompileExtensionsAreBuiltAhead(t *testing.T) {
	inline := Code{Type: "torch_cuda", Source: "from torch.utils.cpp_extension import load_inline\n"}
	plain := Code{Type: "torch", Source: "x = 1\n"}
	for _, tt := range []struct {
		request Request
		want    []string
	}{
		{Request{Kind: Compare, Ref: &plain, Custom: inline, Timeout: 7}, []string{customFile}},
		{Request{Kind: Compare, Ref: &inline, Custom: inline}, []string{customFile, refFile}},
		{Request{Kind: Evaluate, Custom: plain}, nil},
		{Request{Kind: Evaluate, Custom: Code{Type: "cuda", Source: "// load_inline"}}, nil},
	} {
		def, files, err := tt.request.Task("H200")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range def.Files {
			if f.Source != tasks.SubmissionSource || string(files[f.Name]) != inline.Source {
				t.Errorf("file %+v with %q", f, files[f.Name])
			}
			got = append(got, f.Name)
		}
		if len(got) != len(tt.want) || files[def.Config.Main] == nil {
			t.Errorf("built ahead: %v, want %v", got, tt.want)
		}
		var read struct {
			Device string
			Custom Code
		}
		if err := json.Unmarshal(files["request.json"], &read); err != nil || read.Device != "H200" || read.Custom.Source != tt.request.Custom.Source {
			t.Errorf("request.json: %+v, %v", read, err)
		}
	}
}
