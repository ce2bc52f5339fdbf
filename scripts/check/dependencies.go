//go:build check

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/facts/deprecated"
)

// spareDependencies lets analyzers, and those that they stand on, look at the packages and return nothing for others,
// whose source is not loaded or not whole: our own packages compiled for another one's tests are among them.
func spareDependencies(analyzers []*analysis.Analyzer, ours []*packages.Package) {
	files, looked := map[*types.Package][]string{}, map[*types.Package]bool{}
	packages.Visit(ours, nil, func(p *packages.Package) { files[p.Types] = p.CompiledGoFiles })
	for _, p := range ours {
		looked[p.Types] = true
	}
	seen := map[*analysis.Analyzer]bool{}
	var spare func(a *analysis.Analyzer)
	spare = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		for _, required := range a.Requires {
			spare(required)
		}
		run := a.Run
		a.Run = func(pass *analysis.Pass) (any, error) {
			switch {
			case looked[pass.Pkg]:
				return run(pass)
			case a == deprecated.Analyzer:
				return run(declared(pass, files[pass.Pkg]))
			case a == ctrlflow.Analyzer:
				exportNoReturn(pass)
			}
			if a.ResultType == nil {
				return nil, nil
			}
			return reflect.Zero(a.ResultType).Interface(), nil
		}
	}
	for _, a := range analyzers {
		spare(a)
	}
}

// neverReturn are functions of the standard library after which nothing comes; methods have their type before the name.
var neverReturn = map[string][]string{
	"log":     {"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Logger.Fatal", "Logger.Fatalf", "Logger.Fatalln", "Logger.Panic", "Logger.Panicf", "Logger.Panicln"},
	"os":      {"Exit"},
	"runtime": {"Goexit"},
	"syscall": {"Exit"},
	"testing": {"common.Fatal", "common.Fatalf", "common.FailNow", "common.Skip", "common.Skipf", "common.SkipNow"},
}

// exportNoReturn says so of them. The fact's type is not exported.
func exportNoReturn(pass *analysis.Pass) {
	for _, name := range neverReturn[pass.Pkg.Path()] {
		if object := find(pass.Pkg, name); object != nil {
			fact := reflect.New(reflect.TypeOf(pass.Analyzer.FactTypes[0]).Elem()).Interface()
			pass.ExportObjectFact(object, fact.(analysis.Fact))
		}
	}
}

// declared is a pass over the declarations in a dependency's source, which is parsed and not checked: its objects are those
// of the export data.
func declared(pass *analysis.Pass, files []string) *analysis.Pass {
	source := *pass
	source.TypesInfo = &types.Info{Defs: map[*ast.Ident]types.Object{}}
	fset := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // of cgo, or not in Go
		}
		source.Files = append(source.Files, file)
		define(source.TypesInfo.Defs, pass.Pkg, file)
	}
	source.ExportObjectFact = func(object types.Object, fact analysis.Fact) {
		if object != nil { // else nobody else can use it
			pass.ExportObjectFact(object, fact)
		}
	}
	return &source
}

// define finds the objects that a file declares, fields and methods among them.
func define(defs map[*ast.Ident]types.Object, pkg *types.Package, file *ast.File) {
	put := func(id *ast.Ident, name string) {
		if object := find(pkg, name); object != nil {
			defs[id] = object
		}
	}
	members := func(typ string, list *ast.FieldList) {
		for _, member := range list.List {
			for _, id := range member.Names {
				put(id, typ+"."+id.Name)
			}
		}
	}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			put(f.Name, receiver(f)+f.Name.Name)
			continue
		}
		for _, spec := range declaration.(*ast.GenDecl).Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					put(id, id.Name)
				}
			case *ast.TypeSpec:
				put(spec.Name, spec.Name.Name)
				switch typ := spec.Type.(type) {
				case *ast.StructType:
					members(spec.Name.Name, typ.Fields)
				case *ast.InterfaceType:
					members(spec.Name.Name, typ.Methods)
				}
			}
		}
	}
}

// receiver is "T." for a method of T or *T, with or without parameters of the type.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	typ := f.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name + "."
		default:
			return ""
		}
	}
}

// find is the object of a name, or of a type's field or method "T.name"; nil when export data does not have it.
func find(pkg *types.Package, name string) types.Object {
	typ, member, ok := strings.Cut(name, ".")
	object := pkg.Scope().Lookup(typ)
	if !ok || object == nil {
		return object
	}
	found, _, _ := types.LookupFieldOrMethod(object.Type(), true, pkg, member)
	return found
}
