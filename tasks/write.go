package tasks

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// WriteZip writes the task as a zip of one folder; reading it again gives an equal bundle.
// A task in the legacy format is its reference file alone.
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

// TaskYAML writes the definition as a task.yml that refers to the bundle's own files.
func (b *Bundle) TaskYAML() ([]byte, error) {
	d := b.Definition
	y := &yamlWriter{root: &yaml.Node{Kind: yaml.MappingNode}}
	y.set("title", d.Title)
	y.set("lang", string(d.Lang))
	y.add("description", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: d.Description, Style: yaml.LiteralStyle})
	files := &yaml.Node{Kind: yaml.SequenceNode}
	for _, f := range d.Files {
		files.Content = append(files.Content, flow("name", quoted(f.Name), "source", quoted(f.Source)))
	}
	y.add("files", files)
	y.config(d)
	y.cases("tests", d.Tests)
	y.cases("benchmarks", d.Benchmarks)
	for key, limit := range timeouts(d.Timeouts) {
		y.add(key, plain(strconv.FormatInt(int64(limit/time.Second), 10)))
	}
	if d.RankedBudget > 0 {
		y.add("ranked_budget", plain(strconv.FormatInt(int64(d.RankedBudget/time.Second), 10)))
	}
	y.set("ranking_by", string(d.RankingBy))
	if d.Seed != nil {
		y.add("seed", plain(strconv.FormatInt(*d.Seed, 10)))
	}
	if d.MultiGPU {
		y.add("multi_gpu", plain("true"))
	}
	y.mapping("templates", d.Templates)
	y.mapping("baselines", d.Baselines)
	y.list("libraries", d.Libraries)
	y.list("gpus", d.GPUs)
	if d.Roofline != nil {
		y.mapping("roofline", map[string]string{"bytes": d.Roofline.Bytes, "flops": d.Roofline.Flops})
	}
	if d.NoProfile {
		y.add("profile", plain("false"))
	}
	text, err := y.text()
	if err != nil {
		return nil, fmt.Errorf("writing %s of %s: %w", TaskFile, b.Name, err)
	}
	return text, nil
}

func (y *yamlWriter) text() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(y.root)
	return out.Bytes(), err
}

func timeouts(t Timeouts) func(func(string, time.Duration) bool) {
	return func(yield func(string, time.Duration) bool) {
		_ = yield("test_timeout", t.Test) && yield("benchmark_timeout", t.Benchmark) && yield("ranked_timeout", t.Ranked)
	}
}

// yamlWriter builds a mapping key by key; empty values are left out.
type yamlWriter struct {
	root *yaml.Node
}

func (y *yamlWriter) add(key string, value *yaml.Node) {
	y.root.Content = append(y.root.Content, plain(key), value)
}

func (y *yamlWriter) set(key, text string) {
	if text != "" {
		y.add(key, quoted(text))
	}
}

func (y *yamlWriter) list(key string, texts []string) {
	if len(texts) > 0 {
		y.add(key, flowList(texts))
	}
}

func (y *yamlWriter) mapping(key string, texts map[string]string) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			node.Content = append(node.Content, quoted(name), quoted(texts[name]))
		}
	}
	if len(node.Content) > 0 {
		y.add(key, node)
	}
}

func (y *yamlWriter) config(d Definition) {
	config := &yamlWriter{root: &yaml.Node{Kind: yaml.MappingNode}}
	config.set("main", d.Config.Main)
	config.list("sources", d.Config.Sources)
	config.list("include_dirs", d.Config.IncludeDirs)
	defines := &yaml.Node{Kind: yaml.MappingNode}
	for _, define := range d.Config.Defines {
		value := plain("null")
		if define.Value != nil {
			value = quoted(*define.Value)
		}
		defines.Content = append(defines.Content, plain(define.Name), value)
	}
	if len(defines.Content) > 0 {
		config.add("defines", defines)
	}
	config.list("compile_flags", d.Config.CompileFlags)
	if len(config.root.Content) > 0 {
		y.add("config", config.root)
	}
}

func (y *yamlWriter) cases(key string, cases []Case) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range cases {
		node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, arg := range c {
			node.Content = append(node.Content, plain(arg.Name), caseValue(arg.Value))
		}
		list.Content = append(list.Content, node)
	}
	if len(cases) > 0 {
		y.add(key, list)
	}
}

// caseValue writes a value so that reading it gives the same text: bare where it is a number or
// a boolean, else in quotes.
func caseValue(text string) *yaml.Node {
	if value := pyyaml.Plain(text); !value.IsText && value.Text == text {
		return plain(text)
	}
	return quoted(text)
}

func plain(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

func quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

func flow(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, plain(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return node
}

func flowList(texts []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		node.Content = append(node.Content, quoted(text))
	}
	return node
}
