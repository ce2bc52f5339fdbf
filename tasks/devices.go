package tasks

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/internal/gpuname"
)

const (
	// DevicesKey is a reserved argument name, whose value lists the devices of a case.
	DevicesKey      = "devices"
	deviceSeparator = ", "
	maxCaseDevices  = 16
)

// Devices returns the names of the devices, or families of devices, of a case; empty if it is for all.
func (c Case) Devices() []string {
	if names := c.argumentText(DevicesKey); names != "" {
		return strings.Split(names, deviceSeparator)
	}
	return nil
}

// Arguments returns the arguments for programs: all except DevicesKey.
func (c Case) Arguments() Case {
	return slices.DeleteFunc(slices.Clone(c), func(a Arg) bool { return a.Name == DevicesKey })
}

// ForDevice returns the task for one device: only with the cases for that device, without DevicesKey.
func (d Definition) ForDevice(device string) Definition {
	d.Tests, d.Benchmarks = casesForDevice(d.Tests, device), casesForDevice(d.Benchmarks, device)
	return d
}

func casesForDevice(cases []Case, device string) (list []Case) {
	for _, c := range cases {
		names := c.Devices()
		if names == nil || slices.ContainsFunc(names, func(name string) bool {
			return gpuname.NameMeansDevice(name,
				device)
		}) {
			list = append(list, c.Arguments())
		}
	}
	return list
}

// WithoutBenchmark returns the first of devices for which the task has no benchmark. ok is false if there is none, and
// if the task has no benchmarks at all.
func (d Definition) WithoutBenchmark(devices []string) (device string, found bool) {
	if len(d.Benchmarks) == 0 {
		return "", false
	}
	i := slices.IndexFunc(devices, func(device string) bool { return len(casesForDevice(d.Benchmarks, device)) == 0 })
	if i < 0 {
		return "", false
	}
	return devices[i], true
}

// readCaseDevices reads the devices of a case: one name or a list of names.
func (r *taskReader) readCaseDevices(node *yaml.Node, key string) Arg {
	list := node
	if node.Kind == yaml.ScalarNode {
		list = &yaml.Node{Kind: yaml.SequenceNode, Line: node.Line, Content: []*yaml.Node{node}}
	}
	names := r.readDevices(list, key)
	if len(names) == 0 || len(names) > maxCaseDevices {
		r.addProblem(node, key, "names between 1 and %d devices; without it the case is for all", maxCaseDevices)
	}
	return Arg{Name: DevicesKey, Value: strings.Join(names, deviceSeparator)}
}

// checkDevices refuses a task that has no benchmark for one of its devices. The name of a family, such as H100, applies
// to each device of the family.
func (r *taskReader) checkDevices(f yamlFields) {
	def := r.bundle.Definition
	for i, gpu := range def.GPUs {
		served := slices.ContainsFunc(def.Benchmarks, func(c Case) bool {
			names := c.Devices()
			return names == nil || slices.ContainsFunc(names, func(name string) bool { return isSameFamily(name, gpu) })
		})
		if len(def.Benchmarks) > 0 && !served {
			r.addProblem(f["gpus"].Content[i], indexedKey("gpus", i), "no benchmark is for %s: add it to devices of one, or add a case without devices", gpu)
		}
	}
}

// isSameFamily reports whether two names mean the same device, or one of them is the other's family.
func isSameFamily(a, b string) bool {
	return gpuname.NameMeansDevice(a, b) || gpuname.NameMeansDevice(b, a)
}

// lintDevices warns of a device of a case that the task does not list: it may be misspelled.
func lintDevices(def Definition, warn func(string, ...any)) {
	for _, list := range []struct {
		key   string
		cases []Case
	}{{"tests", def.Tests}, {"benchmarks", def.Benchmarks}} {
		for i, c := range list.cases {
			for _, name := range c.Devices() {
				if len(def.GPUs) > 0 && !slices.ContainsFunc(def.GPUs, func(gpu string) bool { return isSameFamily(name, gpu) }) {
					warn("%s is for %s, which gpus does not name.", indexedKey(list.key, i), name)
				}
			}
		}
	}
}
