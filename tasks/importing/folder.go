package importing

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

//go:embed python
var programFiles embed.FS

// taskFolder is a task folder that is being written. Its layout is the same for all formats: problem.py has the
// problem's code, task.py calls it to implement reference.py, and submission.py calls the submitted solution.py.
type taskFolder struct {
	name, title   string // an empty name stands for the file name of the problem
	description   string
	tags          []string
	files         map[string][]byte
	runFiles      []string // files that a run needs besides the common ones
	templates     map[string]string
	tolerance     tolerance
	tests         []*yaml.Node
	benchmarks    []*yaml.Node
	omissionNotes []string
}

const (
	ownSolutionPattern = "solutions/correct/reference.py"
	// time limit of each stage in seconds, long because a reference is plain PyTorch with sizes for GPUs
	stageTimeout = "600"
)

// addNote adds a sentence about a part of the problem that the task omits.
func (f *taskFolder) addNote(format string, args ...any) {
	f.omissionNotes = append(f.omissionNotes, fmt.Sprintf(format, args...))
}

// addProgram adds the embedded file python/from to the folder, as name.
func (f *taskFolder) addProgram(name, from string) error {
	text, err := programFiles.ReadFile("python/" + from)
	f.files[name] = text
	return err
}

// addCommonFiles adds the files that all tasks have, and returns all files of the folder.
func (f *taskFolder) addCommonFiles() (map[string][]byte, error) {
	for _, name := range []string{"reference.py", "submission.py"} {
		if err := f.addProgram(name, name); err != nil {
			return nil, err
		}
	}
	f.files[ownSolutionPattern] = []byte("from reference import ref_kernel as custom_kernel  # noqa: F401\n")
	y := pyyaml.NewMapping()
	y.SetText("title", f.title)
	y.SetText("lang", "py")
	y.AddNode("description", &yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Value: removeExtraSpace(f.description), Style: yaml.LiteralStyle,
	})
	y.SetList("tags", toTags(f.tags))
	files := &yaml.Node{Kind: yaml.SequenceNode}
	add := func(name, source string) {
		files.Content = append(files.Content, pyyaml.FlowMapping("name", pyyaml.QuotedNode(name), "source",
			pyyaml.QuotedNode(source)))
	}
	for _, name := range append([]string{"problem.py", "task.py", "reference.py", "submission.py"}, f.runFiles...) {
		add(name, name)
	}
	add("solution.py", "@SUBMISSION@")
	y.AddNode("files", files)
	y.SetList("submission_files", []string{"*.py", "*.cu", "*.cuh", "*.cpp", "*.h"})
	y.SetTexts("templates", f.templates)
	y.SetTexts("baselines", map[string]string{"PyTorch": ownSolutionPattern})
	y.AddNode("tolerance", f.tolerance.node())
	y.AddNode("tests", &yaml.Node{Kind: yaml.SequenceNode, Content: f.tests})
	y.AddNode("benchmarks", &yaml.Node{Kind: yaml.SequenceNode, Content: f.benchmarks})
	y.SetText("ranking_by", "geom")
	for _, stage := range []string{"test_timeout", "benchmark_timeout", "ranked_timeout"} {
		y.AddNode(stage, pyyaml.UnquotedNode(stageTimeout))
	}
	text, err := y.FormatYAML()
	f.files["task.yml"] = text
	return f.files, err
}

// markdownText formats a problem statement with fmt.Sprintf, after it replaces each pair of single quotes by a
// backquote.
func markdownText(text string, values ...any) string {
	return fmt.Sprintf(strings.ReplaceAll(text, "''", "`"), values...)
}

// removeExtraSpace removes spaces at the ends of lines, and reduces several empty lines to one.
func removeExtraSpace(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \r")
	}
	return strings.TrimSpace(emptyLinesPattern.ReplaceAllString(strings.Join(lines, "\n"), "\n\n")) + "\n"
}

// casesWithSeeds returns cases whose only argument is a seed.
func casesWithSeeds(seeds ...string) (list []*yaml.Node) {
	for _, seed := range seeds {
		list = append(list, pyyaml.FlowMapping("seed", pyyaml.UnquotedNode(seed)))
	}
	return list
}

var (
	emptyLinesPattern   = regexp.MustCompile(`\n{3,}`)
	numberPrefixPattern = regexp.MustCompile(`^\d+_`)
	tagPartPattern      = regexp.MustCompile(`[a-z0-9]+`)
)

// titleFromName returns a title for a name such as "23_Leaky_ReLU_".
func titleFromName(name string) string {
	title := strings.TrimSpace(strings.ReplaceAll(numberPrefixPattern.ReplaceAllString(name, ""), "_", " "))
	if title == "" {
		return name
	}
	return title[:min(len(title), 120)]
}

// toTags converts words to tags in lower case, and omits words that cannot be a tag.
func toTags(words []string) (tags []string) {
	for _, word := range words {
		tag := strings.Join(tagPartPattern.FindAllString(strings.ToLower(word), -1), "-")
		if tag != "" && len(tag) <= 24 && tag[0] >= 'a' && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}
