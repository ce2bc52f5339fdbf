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
	if b.Definition.Protocol != ProtocolLegacy {
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
	if text, ok := b.Files[TaskFile]; ok && b.isDefinedBy(text) {
		return text, nil
	}
	return b.formatTaskFile()
}

// isDefinedBy reports whether a text gives the same definition as the bundle.
func (b *Bundle) isDefinedBy(text []byte) bool {
	files := maps.Clone(b.Files)
	files[TaskFile] = text
	read, err := readTask(filetree.MemoryTree(files), ".", b.Name)
	if err != nil {
		return false
	}
	same := Bundle{Definition: read.Definition}
	return same.ContentHash() == (&Bundle{Definition: b.Definition}).ContentHash()
}

// authorText returns the text of task.yml for the bundle, with paths above the folder replaced by paths inside the
// bundle. It is nil if the definition alone gives the same text.
func (r *taskReader) authorText(data []byte) []byte {
	text := string(data)
	for inside := range r.pathInTree {
		if strings.HasPrefix(inside, parentDirPrefix+"/") {
			text = strings.ReplaceAll(text, strings.ReplaceAll(inside, parentDirPrefix+"/", "../"), inside)
		}
	}
	if written, err := r.bundle.formatTaskFile(); err == nil && string(written) == text {
		return nil
	}
	return []byte(text)
}

// formatTaskFile writes a task.yml from the definition; its paths are those in the bundle.
func (b *Bundle) formatTaskFile() ([]byte, error) {
	d := b.Definition
	y := pyyaml.NewMapping()
	y.SetText("title", d.Title)
	y.SetText("lang", string(d.Lang))
	y.AddNode("description", &yaml.Node{
		Kind:  yaml.ScalarNode,
		Tag:   "!!str",
		Value: d.Description,
		Style: yaml.LiteralStyle,
	})
	y.SetList("tags", d.Tags)
	y.SetText("problem", d.ProblemGroup)
	files := &yaml.Node{Kind: yaml.SequenceNode}
	for _, f := range d.Files {
		files.Content = append(files.Content, pyyaml.FlowMapping("name", pyyaml.QuotedNode(f.Name), "source", pyyaml.QuotedNode(f.Source)))
	}
	y.AddNode("files", files)
	writeConfig(y, d)
	writeTolerances(y, d.Tolerance)
	if d.AllowSetup {
		y.AddNode("setup", pyyaml.UnquotedNode("true"))
	}
	exact := d.Lang == LangPython && !d.HasOwnHarness
	writeCases(y, "tests", d.Tests, exact)
	writeCases(y, "benchmarks", d.Benchmarks, exact)
	writeTimeLimits(y, d)
	y.SetText("ranking_by", string(d.RankingBy))
	if d.Seed != nil {
		y.AddNode("seed", pyyaml.UnquotedNode(strconv.FormatInt(*d.Seed, 10)))
	}
	if d.MultiGPU {
		y.AddNode("multi_gpu", pyyaml.UnquotedNode("true"))
	}
	y.SetTexts("templates", d.Templates)
	y.SetTexts("baselines", d.Baselines)
	y.SetList("submission_files", d.SubmissionFiles)
	y.SetList("libraries", d.Libraries)
	y.SetList("gpus", d.GPUs)
	y.SetList("require", d.RequiredPackages)
	if d.Roofline != nil {
		y.SetTexts("roofline", map[string]string{"bytes": d.Roofline.Bytes, "flops": d.Roofline.Flops})
	}
	if d.DisableProfile {
		y.AddNode("profile", pyyaml.UnquotedNode("false"))
	}
	if d.RequiresCleanSanitizerRun {
		y.SetText("sanitize", "required")
	}
	if d.RefuseLibraryKernels {
		y.SetText("library", "refuse")
	}
	if d.Validation != nil {
		y.SetTexts("validation", map[string]string{"version": d.Validation.Version, "script": d.Validation.Script})
	}
	text, err := y.FormatYAML()
	if err != nil {
		return nil, fmt.Errorf("writing %s of %s: %w", TaskFile, b.Name, err)
	}
	return text, nil
}

func writeTimeLimits(y *pyyaml.Mapping, d Definition) {
	seconds := func(key string, limit time.Duration) {
		y.AddNode(key, pyyaml.UnquotedNode(strconv.FormatInt(int64(limit/time.Second), 10)))
	}
	seconds("test_timeout", d.Timeouts.Test)
	seconds("benchmark_timeout", d.Timeouts.Benchmark)
	seconds("ranked_timeout", d.Timeouts.Ranked)
	if d.RankedBudget > 0 {
		seconds("ranked_budget", d.RankedBudget)
	}
	if d.MemoryLimit > 0 {
		y.AddNode("memory_limit", pyyaml.UnquotedNode(strconv.FormatInt(d.MemoryLimit>>20, 10)))
	}
}

func writeConfig(y *pyyaml.Mapping, d Definition) {
	config := pyyaml.NewMapping()
	config.SetText("main", d.Config.MainFile)
	config.SetList("sources", d.Config.Sources)
	config.SetList("include_dirs", d.Config.IncludeDirs)
	defines := &yaml.Node{Kind: yaml.MappingNode}
	for _, define := range d.Config.Defines {
		value := pyyaml.UnquotedNode("null")
		if define.Value != nil {
			value = pyyaml.QuotedNode(*define.Value)
		}
		defines.Content = append(defines.Content, pyyaml.UnquotedNode(define.Name), value)
	}
	if len(defines.Content) > 0 {
		config.AddNode("defines", defines)
	}
	config.SetList("compile_flags", d.Config.CompileFlags)
	if len(config.Node.Content) > 0 {
		y.AddNode("config", config.Node)
	}
}

func argumentValueNode(c Case, arg Arg, exact bool) *yaml.Node {
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

func writeCases(y *pyyaml.Mapping, key string, cases []Case, exact bool) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range cases {
		node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, arg := range c {
			value := argumentValueNode(c, arg, exact)
			// In a one-line mapping, these characters need quotes.
			if value.Style == 0 && strings.ContainsAny(value.Value, ",[]{}") {
				node.Style = 0
			}
			node.Content = append(node.Content, pyyaml.UnquotedNode(arg.Name), value)
		}
		list.Content = append(list.Content, node)
	}
	if len(cases) > 0 {
		y.AddNode(key, list)
	}
}
