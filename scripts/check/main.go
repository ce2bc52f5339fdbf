//go:build check

package main

import (
	"fmt"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/config"
	"honnef.co/go/tools/unused"
)

func main() {
	findings, err := check("./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// check returns what the analyzers find in the packages and their tests.
func check(patterns ...string) ([]string, error) {
	conf, err := config.Load(".")
	if err != nil {
		return nil, err
	}
	all, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedForTest, Tests: true, BuildFlags: []string{"-race"}}, patterns...)
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(all) > 0 {
		return nil, fmt.Errorf("these packages do not compile")
	}
	wanted := analyzers(conf.Checks)
	spareDependencies(wanted, all)
	graph, err := checker.Analyze(wanted, checked(all), nil)
	if err != nil {
		return nil, err
	}
	return findings(graph)
}

// checked leaves out test binaries, and packages whose tests lie inside: the package with its tests is another one, which
// has all of it.
func checked(all []*packages.Package) (chosen []*packages.Package) {
	withTests := map[string]bool{}
	for _, p := range all {
		if p.ForTest == p.PkgPath {
			withTests[p.PkgPath] = true
		}
	}
	for _, p := range all {
		if binary := strings.HasSuffix(p.ID, ".test"); !binary && (p.ForTest != "" || !withTests[p.PkgPath]) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// findings are the lines of what was found, each once: a file may be in several packages.
func findings(graph *checker.Graph) ([]string, error) {
	var lines []string
	ignored := ignores{}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("%s in %s: %w", act.Analyzer, act.Package, act.Err)
		}
		for _, f := range found(act) {
			if !ignored.has(act.Package, f) && !(f.check == "SA4006" && strings.HasSuffix(f.at.Filename, "_templ.go")) {
				lines = append(lines, fmt.Sprintf("%s: %s (%s)", f.at, f.text, f.check))
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines), nil
}

// finding is what a check says of a line.
type finding struct {
	at          token.Position
	text, check string
}

func found(act *checker.Action) (found []finding) {
	for _, d := range act.Diagnostics {
		found = append(found, finding{act.Package.Fset.Position(d.Pos), d.Message, act.Analyzer.Name})
	}
	if result, ok := act.Result.(unused.Result); ok { // it reports nothing: others merge what it returns
		for _, o := range result.Unused {
			found = append(found, finding{o.DisplayPosition, o.Kind + " " + o.Name + " is unused", act.Analyzer.Name})
		}
	}
	return found
}

// place is a line on which a check is ignored.
type place struct {
	file  string
	line  int
	check string
}

// ignores are the places of //lint:ignore comments, of packages in which something was found.
type ignores map[*packages.Package]map[place]bool

func (i ignores) has(p *packages.Package, f finding) bool {
	if i[p] == nil {
		i[p] = map[place]bool{}
		for _, d := range lint.ParseDirectives(p.Syntax, p.Fset) {
			if at := p.Fset.Position(d.Node.Pos()); d.Command == "ignore" && len(d.Arguments) > 1 { // which check, and why
				i[p][place{at.Filename, at.Line, d.Arguments[0]}] = true
			}
		}
	}
	return i[p][place{f.at.Filename, f.at.Line, f.check}]
}
