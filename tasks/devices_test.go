package tasks_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

const perDevice = minimal + `gpus: [H100, RTX-4090, CPU]
tests:
  - {n: 3}
  - {n: 4, devices: CPU}
benchmarks:
  - {n: 64}
  - {n: 1024, devices: [H100, RTX-4090]}
  - {n: 65536, devices: [H100-SXM, H200]}
`

func lines(cases []tasks.Case) (texts []string) {
	for _, c := range cases {
		texts = append(texts, c.String())
	}
	return texts
}

func TestADeviceRunsItsCases(t *testing.T) {
	def := mustTask(t, perDevice).Definition
	for device, want := range map[string]string{
		"CPU":       "[n: 3 n: 4] [n: 64]",
		"RTX-4090":  "[n: 3] [n: 64 n: 1024]",
		"H100-PCIe": "[n: 3] [n: 64 n: 1024]",
		"H100-SXM":  "[n: 3] [n: 64 n: 1024 n: 65536]",
		"H200":      "[n: 3] [n: 64 n: 65536]",
		"H200-NVL":  "[n: 3] [n: 64]", // H200 is a device, and no family
		"T4":        "[n: 3] [n: 64]",
	} {
		on := def.ForDevice(device)
		if got := fmt.Sprint(lines(on.Tests), " ", lines(on.Benchmarks)); got != want {
			t.Errorf("%s runs %s, want %s", device, got, want)
		}
	}
	if got := def.Benchmarks[1].String(); got != "n: 1024; devices: H100, RTX-4090" {
		t.Errorf("a case of some devices is written as %q", got)
	}
}

func TestCasesOfDevicesAreWrittenAndReadAgain(t *testing.T) {
	b := mustTask(t, perDevice)
	delete(b.Files, tasks.TaskFile)
	var out bytes.Buffer
	if err := tasks.WriteZip(&out, b); err != nil {
		t.Fatal(err)
	}
	again, err := readZip(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.Definition, again[0].Definition); diff != "" {
		t.Errorf("definition (-before +after):\n%s", diff)
	}
}

func TestBadDevicesOfCasesAreRefusedByFileLineAndKey(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"none": {"tests: [{n: 1, devices: []}]\n",
			"task.yml:6: tests[0].devices: names between 1 and 16 devices"},
		"no name": {"tests: [{n: 1, devices: [\"<b>\"]}]\n",
			`tests[0].devices[0]: "<b>" is not a device's name`},
		"twice":        {"tests: [{n: 1, devices: [T4, T4]}]\n", `tests[0].devices[1]: "T4" appears twice`},
		"a mapping":    {"tests: [{n: 1, devices: {a: 1}}]\n", "tests[0].devices: must be a list"},
		"nothing else": {"tests: [{devices: T4}]\n", "tests[0]: has no arguments"},
		"device without": {"gpus: [T4, CPU]\nbenchmarks: [{n: 1, devices: T4}]\n",
			"task.yml:6: gpus[1]: no benchmark is for CPU: add it to devices of one"},
		"another of a family": {"gpus: [H100-NVL]\nbenchmarks: [{n: 1, devices: H100-SXM}]\n",
			"gpus[0]: no benchmark is for H100-NVL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := task(t, minimal+c.yaml)
			wantError(t, err, c.want)
		})
	}
	b := mustTask(t,
		minimal+"gpus: [H100]\nbenchmarks: [{n: 1}, {n: 2, devices: [H1OO]}, {n: 3, devices: [H100-SXM]}]\n")
	if warned := strings.Join(b.Warnings, " "); !strings.Contains(warned,
		"benchmarks[1] is for H1OO, which gpus does not name.") || strings.Contains(warned, "benchmarks[2]") {
		t.Errorf("warnings: %q", b.Warnings)
	}
}
