package tasks

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
	"warpboard/tasks/pyyaml"
)

// WriteZip writes the task as a zip with one folder; reading it gives an equal bundle. A task in the legacy format is
// only its reference file.
func WriteZip(w io.Writer, b *Bundle) error {
	zw := zip.NewWriter(w)
	if b.Definition.Form != FormLegacy {
		text, err := b.TaskYAML()
		if err != nil {
			return err
		}
		if err := writeEntry(zw, b.Name+"/"+TaskFile, text); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		if name == TaskFile {
			continue
		}
		if err := writeEntry(zw, b.Name+"/"+name, b.Files[name]); err != nil {
			return err
		}
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("ending the zip of %s: %w", b.Name, err)
	}
	return nil
}

func writeEntry(zw *zip.Writer, name string, data []byte) error {
	w, err := zw.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		return fmt.Errorf("writing %s into the zip: %w", name, err)
	}
	return nil
}

// TaskYAML returns the task.yml that the author wrote, with its comments. If the bundle has changed, it is written from
// the definition.
func (b *Bundle) TaskYAML() ([]byte, error) {
	if text, ok := b.Files[TaskFile]; ok && b.describedBy(text) {
		return text, nil
	}
	return b.writtenYAML()
}

// describedBy reports whether a text gives the same definition as the bundle.
func (b *Bundle) describedBy(text []byte) bool {
	files := maps.Clone(b.Files)
	files[TaskFile] = text
	read, err := readTask(filetree.Memory(files), ".", b.Name)
	if err != nil {
		return false
	}
	same := Bundle{Definition: read.Definition}
	return same.Key() == (&Bundle{Definition: b.Definition}).Key()
}

// authorText returns the text of task.yml for the bundle, with paths above the folder replaced by paths inside the
// bundle. It is nil if the definition alone gives the same text.
func (r *taskReader) authorText(data []byte) []byte {
	text := string(data)
	for inside := range r.origins {
		if strings.HasPrefix(inside, outsidePrefix+"/") {
			text = strings.ReplaceAll(text, strings.ReplaceAll(inside, outsidePrefix+"/", "../"), inside)
		}
	}
	if written, err := r.bundle.writtenYAML(); err == nil && string(written) == text {
		return nil
	}
	return []byte(text)
}

// writtenYAML writes a task.yml from the definition; its paths are those in the bundle.
func (b *Bundle) writtenYAML() ([]byte, error) {
	d := b.Definition
	y := pyyaml.NewMapping()
	y.Set("title", d.Title)
	y.Set("lang", string(d.Lang))
	y.Add("description", &yaml.Node{
		Kind:  yaml.ScalarNode,
		Tag:   "!!str",
		Value: d.Description,
		Style: yaml.LiteralStyle,
	})
	y.List("tags", d.Tags)
	y.Set("problem", d.Problem)
	files := &yaml.Node{Kind: yaml.SequenceNode}
	for _, f := range d.Files {
		files.Content = append(files.Content, pyyaml.Flow("name", pyyaml.Quoted(f.Name), "source", pyyaml.Quoted(f.Source)))
	}
	y.Add("files", files)
	addConfig(y, d)
	addTolerances(y, d.Tolerance)
	if d.Setup {
		y.Add("setup", pyyaml.PlainScalar("true"))
	}
	exact := d.Lang == LangPython && !d.OwnHarness
	addCases(y, "tests", d.Tests, exact)
	addCases(y, "benchmarks", d.Benchmarks, exact)
	addTimes(y, d)
	y.Set("ranking_by", string(d.RankingBy))
	if d.Seed != nil {
		y.Add("seed", pyyaml.PlainScalar(strconv.FormatInt(*d.Seed, 10)))
	}
	if d.MultiGPU {
		y.Add("multi_gpu", pyyaml.PlainScalar("true"))
	}
	y.Fields("templates", d.Templates)
	y.Fields("baselines", d.Baselines)
	y.List("submission_files", d.SubmissionFiles)
	y.List("libraries", d.Libraries)
	y.List("gpus", d.GPUs)
	y.List("require", d.Require)
	if d.Roofline != nil {
		y.Fields("roofline", map[string]string{"bytes": d.Roofline.Bytes, "flops": d.Roofline.Flops})
	}
	if d.NoProfile {
		y.Add("profile", pyyaml.PlainScalar("false"))
	}
	if d.SanitizeFirst {
		y.Set("sanitize", "required")
	}
	if d.RefuseLibrary {
		y.Set("library", "refuse")
	}
	if d.Validation != nil {
		y.Fields("validation", map[string]string{"version": d.Validation.Version, "script": d.Validation.Script})
	}
	text, err := y.Text()
	if err != nil {
		return nil, fmt.Errorf("writing %s of %s: %w", TaskFile, b.Name, err)
	}
	return text, nil
}

func addTimes(y *pyyaml.Mapping, d Definition) {
	seconds := func(key string, limit time.Duration) {
		y.Add(key, pyyaml.PlainScalar(strconv.FormatInt(int64(limit/time.Second), 10)))
	}
	seconds("test_timeout", d.Timeouts.Test)
	seconds("benchmark_timeout", d.Timeouts.Benchmark)
	seconds("ranked_timeout", d.Timeouts.Ranked)
	if d.RankedBudget > 0 {
		seconds("ranked_budget", d.RankedBudget)
	}
	if d.MemoryLimit > 0 {
		y.Add("memory_limit", pyyaml.PlainScalar(strconv.FormatInt(d.MemoryLimit>>20, 10)))
	}
}

func addConfig(y *pyyaml.Mapping, d Definition) {
	config := pyyaml.NewMapping()
	config.Set("main", d.Config.Main)
	config.List("sources", d.Config.Sources)
	config.List("include_dirs", d.Config.IncludeDirs)
	defines := &yaml.Node{Kind: yaml.MappingNode}
	for _, define := range d.Config.Defines {
		value := pyyaml.PlainScalar("null")
		if define.Value != nil {
			value = pyyaml.Quoted(*define.Value)
		}
		defines.Content = append(defines.Content, pyyaml.PlainScalar(define.Name), value)
	}
	if len(defines.Content) > 0 {
		config.Add("defines", defines)
	}
	config.List("compile_flags", d.Config.CompileFlags)
	if len(config.Node.Content) > 0 {
		y.Add("config", config.Node)
	}
}

func valueNode(c Case, arg Arg, exact bool) *yaml.Node {
	switch {
	case arg.Name == DevicesKey:
	case exact:
		return pyyaml.PythonLiteralNode(arg.Value)
	default:
		return pyyaml.PythonTextNode(arg.Value)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, name := range c.Devices() {
		list.Content = append(list.Content, pyyaml.PythonTextNode(name))
	}
	return list
}

func addCases(y *pyyaml.Mapping, key string, cases []Case, exact bool) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range cases {
		node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, arg := range c {
			value := valueNode(c, arg, exact)
			if value.Style == 0 && strings.ContainsAny(value.Value, ",[]{}") { // needs quotes in a one-line mapping
				node.Style = 0
			}
			node.Content = append(node.Content, pyyaml.PlainScalar(arg.Name), value)
		}
		list.Content = append(list.Content, node)
	}
	if len(cases) > 0 {
		y.Add(key, list)
	}
}
