package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// House is what was measured of a source tree.
type House struct {
	Packages  map[string]*Package // by folder
	Long      []string            // functions over 40 lines
	Aliases   []string            // imports of the module under a name that nothing else in the file needs
	Upward    []string            // imports of a room that lies above
	Arrows    int                 // between packages of the module
	WebArrows int                 // of these, inside web
}

// Package is what was measured of one folder.
type Package struct {
	Files, Lines, Comments, Tests, Templ, Functions, Long int
}

func (p *Package) add(o Package) {
	p.Files, p.Lines, p.Comments, p.Tests = p.Files+o.Files, p.Lines+o.Lines, p.Comments+o.Comments, p.Tests+o.Tests
	p.Templ, p.Functions, p.Long = p.Templ+o.Templ, p.Functions+o.Functions, p.Long+o.Long
}

const (
	module   = "warpboard"
	longFrom = 40 // lines that a function should not exceed
)

// rooms lists who lies above whom: an import must not lead to a room of a smaller number. Folders below one belong
// to it unless they are named themselves; the names of before issue 11 are there to measure older commits.
var rooms = map[string]int{
	"": 0, "e2e": 0, "scripts": 0, "app": 10, "app/verify": 12, "app/cli": 15, "app/machine": 18, "web": 20,
	"web/pages": 30, "web/api": 30, "web/evalapi": 30, "web/mcp": 30, "web/metrics": 30,
	"web/site": 40, "web/signin": 40, "web/stream": 45, "web/conns": 48, "web/client": 48, "web/basepath": 48, "webhooks": 48,
	"views": 50, "models/seed": 50, "evaluator": 50, "evaluator/dispatch": 50, "evaluator/attacks": 50,
	"evaluator/taskrun": 60, "evaluator/kernelrun/evaluation": 60, "evaluator/attempt": 62, "evaluator/slots": 64,
	"views/charts": 60, "views/profile": 60, "models": 60, "models/submissions": 62, "models/work": 63, "models/pools": 64, "models/accounts": 65, "models/budgets": 65, "models/files": 65, "models/storage": 65, "models/switches": 65, "models/webhooks": 65,
	"models/boards": 65, "models/catalog": 65, "models/fleet": 65, "models/statements": 65, "models/rejudge": 65, "models/sentinels": 65,
	"models/counters": 67, "models/review": 67, "models/devices": 67, "models/epochs": 67, "models/db": 68, "statement": 68,
	"evaluator/kernelrun": 78, "evaluator/kernel": 78, "evaluator/queue": 70, "evaluator/profiling": 70, "evaluator/toolchain": 72, "evaluator/versus": 74, "evaluator/judge": 76,
	"evaluator/harness": 75, "evaluator/sandbox": 77,
	"evaluator/job": 80, "evaluator/device": 80, "evaluator/ncu": 80, "evaluator/profile": 80, "tasks/directives": 79, "tasks": 80, "tasks/pyyaml": 85,
	"silicon": 85, "cache": 85, "publicnet": 85, "views/format": 85, "views/diff": 85, "migrations": 85, "static": 85, "docs": 85, "clients/python": 85,
}

func room(dir string) int {
	for ; ; dir = path.Dir(dir) {
		if dir == "." {
			return rooms[""]
		}
		if n, ok := rooms[dir]; ok {
			return n
		}
	}
}

func measure(root string) (*House, error) {
	h := &House{Packages: map[string]*Package{}}
	arrows := map[[2]string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root && (name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		generated := strings.HasSuffix(name, "_templ.go")
		if d.IsDir() || generated || path.Ext(name) != ".go" && path.Ext(name) != ".templ" {
			return nil
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(relative))
		if h.Packages[dir] == nil {
			h.Packages[dir] = &Package{}
		}
		return h.file(file, dir, arrows)
	})
	for arrow := range arrows {
		h.Arrows++
		if strings.HasPrefix(arrow[0], "web") && strings.HasPrefix(arrow[1], "web") {
			h.WebArrows++
		}
	}
	return h, err
}

func (h *House) file(file, dir string, arrows map[[2]string]bool) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	p, lines := h.Packages[dir], bytes.Count(text, []byte("\n"))
	switch {
	case strings.HasSuffix(file, ".templ"):
		p.Templ += lines
		return nil
	case strings.HasSuffix(file, "_test.go"):
		p.Tests += lines
		return nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p.Files, p.Lines = p.Files+1, p.Lines+lines
	line := func(pos token.Pos) int { return set.Position(pos).Line }
	for _, group := range tree.Comments {
		p.Comments += line(group.End()) - line(group.Pos()) + 1
	}
	for _, declared := range tree.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		p.Functions++
		if n := line(function.End()) - line(function.Pos()) + 1; n > longFrom {
			p.Long++
			h.Long = append(h.Long, fmt.Sprintf("%s/%s: %s, %d lines", dir, filepath.Base(file), function.Name.Name, n))
		}
	}
	h.imports(tree, dir, file, arrows)
	return nil
}

func (h *House) imports(tree *ast.File, dir, file string, arrows map[[2]string]bool) {
	named := map[string]int{} // how many imports of the file end in a name
	for _, spec := range tree.Imports {
		named[path.Base(importPath(spec))]++
	}
	for _, spec := range tree.Imports {
		to, ours := strings.CutPrefix(importPath(spec), module+"/")
		if !ours {
			continue
		}
		where := fmt.Sprintf("%s/%s: %s", dir, filepath.Base(file), to)
		base := path.Base(to)
		if spec.Name != nil && spec.Name.Name != base && spec.Name.Name != "_" && named[base] == 1 && base != tree.Name.Name {
			h.Aliases = append(h.Aliases, where+" as "+spec.Name.Name)
		}
		if room(to) < room(dir) {
			h.Upward = append(h.Upward, where)
		}
		arrows[[2]string{dir, to}] = true
	}
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	return p
}
