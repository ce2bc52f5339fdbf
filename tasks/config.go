package tasks

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/parse"
	"warpboard/tasks/pyyaml"
)

// readConfig reads the key config of task.yml, whose keys depend on the language.
func (r *taskReader) readConfig(node *yaml.Node, lang Lang) BuildConfig {
	switch lang {
	case LangPython:
		f := r.readMapping(node, "config", knownKeys("config", lang)...)
		return BuildConfig{MainFile: r.readScalar(f["main"], "config.main")}
	case LangCUDA, LangCPP:
		f := r.readMapping(node, "config", knownKeys("config", lang)...)
		return BuildConfig{
			Sources:      r.readSourceNames(f["sources"]),
			IncludeDirs:  r.readMatchingTexts(f["include_dirs"], "config.include_dirs", isArgumentName, "cannot be a folder: it starts with - or holds a control character"),
			Defines:      r.readDefines(f["defines"]),
			CompileFlags: r.readFlags(f["compile_flags"], lang),
		}
	default:
		return BuildConfig{}
	}
}

func isArgumentName(s string) bool {
	return !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, unicode.IsControl)
}

// readSourceNames reads the names of the files to compile; all others are headers.
func (r *taskReader) readSourceNames(node *yaml.Node) []string {
	const key = "config.sources"
	names := r.readTexts(node, key)
	for i, name := range names {
		switch item := node.Content[i]; {
		case item.Kind != yaml.ScalarNode || name == "":
		case !r.bundle.Definition.hasFile(name):
			r.addProblem(item, indexedKey(key, i), "%q is not the name of an entry of files", name)
		case slices.Contains(names[:i], name):
			r.addProblem(item, indexedKey(key, i), "%q appears twice", name)
		}
	}
	return names
}

// readDefines reads preprocessor definitions in file order; null as a value means -DNAME without a value.
func (r *taskReader) readDefines(node *yaml.Node) []Define {
	const key = "config.defines"
	var out []Define
	for name, value := range r.mappingPairs(node, key) {
		at := joinKey(key, name.Value)
		if !identifierPattern.MatchString(name.Value) {
			r.addProblem(name, at, "%q is not an identifier", name.Value)
		}
		define := Define{Name: name.Value}
		switch {
		case value.Kind != yaml.ScalarNode:
			r.addProblem(value, at, "must be one value, or nothing for a plain -D%s", name.Value)
		case !pyyaml.IsNull(value):
			text := pyyaml.InterpretScalar(value).Text
			if strings.ContainsFunc(text, unicode.IsControl) {
				r.addProblem(value, at, "must be one line without control characters")
			}
			define.Value = &text
		}
		out = append(out, define)
	}
	return out
}

// readFlags reads compile flags, and reports each flag that a task may not set. Workers check the flags again, because
// a job may not come from this reader.
func (r *taskReader) readFlags(node *yaml.Node, lang Lang) []string {
	given := r.readTexts(node, compileFlagsKey)
	for i, flag := range parse.JoinedFlags(lang == LangCUDA, given) {
		refused := parse.RefusedFlag(lang == LangCUDA, flag)
		if refused != "" && strings.TrimSpace(flag) != "" {
			r.addProblem(node.Content[i], indexedKey(compileFlagsKey, i), "%s", refused)
		}
	}
	return given
}

const compileFlagsKey = "config.compile_flags"

// CheckCompileFlags checks the compile_flags of a task in lang, and returns them with every flag and its value in one
// argument. The error is the Problem of the first flag that a task may not set.
func CheckCompileFlags(lang Lang, given []string) ([]string, error) {
	var checked []string
	for i, flag := range parse.JoinedFlags(lang == LangCUDA, given) {
		if refused := parse.RefusedFlag(lang == LangCUDA, flag); refused != "" {
			return nil, parse.Problem{Key: indexedKey(compileFlagsKey, i), Message: refused}
		}
		checked = append(checked, flag)
	}
	return checked, nil
}
