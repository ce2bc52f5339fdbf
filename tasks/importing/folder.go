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
var programs embed.FS

// folder is a task folder that is being written. All tasks have the same form: problem.py is the code of the problem,
// task.py calls it for reference.py, and submission.py calls the submission, solution.py.
type folder struct {
	name, title string // name is empty for that of the problem's file
	description string
	tags        []string
	files       map[string][]byte
	runFiles    []string // further files that a run needs
	templates   map[string]string
	tolerance   tolerance
	tests       []*yaml.Node
	benchmarks  []*yaml.Node
	notes       []string
}

const (
	ownSolutionPath = "solutions/correct/reference.py"
	stageTimeout    = "600" // seconds of a stage: problems are sized for GPUs, and their references are plain PyTorch
)

// addNote adds a sentence about something that the task lacks.
func (f *folder) addNote(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// addProgram adds one of the embedded programs.
func (f *folder) addProgram(name, from string) error {
	text, err := programs.ReadFile("python/" + from)
	f.files[name] = text
	return err
}

// addCommonFiles adds the files that all tasks have, and returns all files of the folder.
func (f *folder) addCommonFiles() (map[string][]byte, error) {
	for _, name := range []string{"reference.py", "submission.py"} {
		if err := f.addProgram(name, name); err != nil {
			return nil, err
		}
	}
	f.files[ownSolutionPath] = []byte("from reference import ref_kernel as custom_kernel  # noqa: F401\n")
	y := pyyaml.NewMapping()
	y.Set("title", f.title)
	y.Set("lang", "py")
	y.Add("description", &yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Value: removeExtraSpace(f.description), Style: yaml.LiteralStyle,
	})
	y.List("tags", tagsOf(f.tags))
	files := &yaml.Node{Kind: yaml.SequenceNode}
	add := func(name, source string) {
		files.Content = append(files.Content, pyyaml.Flow("name", pyyaml.Quoted(name), "source", pyyaml.Quoted(source)))
	}
	for _, name := range append([]string{"problem.py", "task.py", "reference.py", "submission.py"}, f.runFiles...) {
		add(name, name)
	}
	add("solution.py", "@SUBMISSION@")
	y.Add("files", files)
	y.List("submission_files", []string{"*.py", "*.cu", "*.cuh", "*.cpp", "*.h"})
	y.Fields("templates", f.templates)
	y.Fields("baselines", map[string]string{"PyTorch": ownSolutionPath})
	y.Add("tolerance", f.tolerance.node())
	y.Add("tests", &yaml.Node{Kind: yaml.SequenceNode, Content: f.tests})
	y.Add("benchmarks", &yaml.Node{Kind: yaml.SequenceNode, Content: f.benchmarks})
	y.Set("ranking_by", "geom")
	for _, stage := range []string{"test_timeout", "benchmark_timeout", "ranked_timeout"} {
		y.Add(stage, pyyaml.PlainScalar(stageTimeout))
	}
	text, err := y.Text()
	f.files["task.yml"] = text
	return f.files, err
}

// markdownText formats a statement, in which two single quotes stand for a backquote.
func markdownText(text string, values ...any) string {
	return fmt.Sprintf(strings.ReplaceAll(text, "''", "`"), values...)
}

// removeExtraSpace removes spaces at the ends of lines, and reduces several empty lines to one.
func removeExtraSpace(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \r")
	}
	return strings.TrimSpace(emptyLines.ReplaceAllString(strings.Join(lines, "\n"), "\n\n")) + "\n"
}

// casesWithSeeds returns cases whose only argument is a seed.
func casesWithSeeds(seeds ...string) (list []*yaml.Node) {
	for _, seed := range seeds {
		list = append(list, pyyaml.Flow("seed", pyyaml.PlainScalar(seed)))
	}
	return list
}

var (
	emptyLines = regexp.MustCompile(`\n{3,}`)
	number     = regexp.MustCompile(`^\d+_`)
	tagPart    = regexp.MustCompile(`[a-z0-9]+`)
)

// titleOf returns a title for a name such as "23_Leaky_ReLU_".
func titleOf(name string) string {
	title := strings.TrimSpace(strings.ReplaceAll(number.ReplaceAllString(name, ""), "_", " "))
	if title == "" {
		return name
	}
	return title[:min(len(title), 120)]
}

// tagsOf returns words in the form of tags; words that cannot be a tag are omitted.
func tagsOf(words []string) (tags []string) {
	for _, word := range words {
		tag := strings.Join(tagPart.FindAllString(strings.ToLower(word), -1), "-")
		if tag != "" && len(tag) <= 24 && tag[0] >= 'a' && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}
