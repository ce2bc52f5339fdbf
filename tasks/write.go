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
	y.set("ranking_by", string(d.RankingBy))
	if d.Seed != nil {
		y.add("seed", plain(strconv.FormatInt(*d.Seed, 10)))
	}
	if d.MultiGPU {
		y.add("multi_gpu", plain("true"))
	}
	y.mapping("templates", d.Templates)
	y.list("libraries", d.Libraries)
	y.list("gpus", d.GPUs)
	if d.Roofline != nil {
		y.mapping("roofline", map[string]string{"bytes": d.Roofline.Bytes, "flops": d.Roofline.Flops})
	}
	if d.NoProfile {
		y.add("profile", plain("false"))
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(y.root); err != nil {
		return nil, fmt.Errorf("writing %s of %s: %w", TaskFile, b.Name, err)
	}
	return out.Bytes(), nil
}

func timeouts(t Timeouts) func(func(string, time.Duration) bool) {
	return func(yield func(string, time.Duration) bool) {
		_ = yield("test_timeout", t.Test) && yield("benchmark_timeout", t.Benchmark) && yield("ranked_timeout", t.Ranked)
	}
}
