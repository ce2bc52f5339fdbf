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
	"": 0, "e2e": 0, "scripts": 0, "app": 1, "web": 2,
	"web/pages": 3, "web/api": 3, "web/evalapi": 3, "web/mcp": 3, "web/metrics": 3,
	"web/site": 4, "web/stream": 4, "web/signin": 4,
	"web/client": 5, "views": 5, "models/seed": 5, "evaluator": 5, "evaluator/dispatch": 5,
	"views/charts": 6, "models": 6, "evaluator/slots": 6, "evaluator/taskrun": 6, "evaluator/kernelrun": 6, "evaluator/attacks": 6,
	"evaluator/judge": 7, "evaluator/toolchain": 7, "evaluator/sandbox": 7, "evaluator/profiling": 7, "evaluator/harness": 7, "evaluator/queue": 7,
	"evaluator/job": 8, "evaluator/device": 8, "evaluator/ncu": 8, "tasks": 8, "views/format": 8, "views/diff": 8, "migrations": 8, "static": 8,
	"views/profile": 6, "evaluator/profile": 8, "evaluator/kernel": 6,
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
