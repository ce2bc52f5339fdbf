//go:build check

// Command check runs go vet's analyzers and staticcheck's (staticcheck.conf) on our packages and their tests.
//
//	go build -tags check -o .bin/check ./scripts/check && .bin/check
//
// main.go loads and reports; analyzers.go says what is run; dependencies.go says what is known of others' packages.
//
// The staticcheck command reads the source of all dependencies for facts about them, which takes 110 s of a processor, and
// vet 34 s; this takes 20 s. Here dependencies come from the compiler's export data, and what checks want to know of them
// is read from their declarations: what is deprecated, and which functions of the standard library never return.
// Weakness: pure functions, results that are never nil and wrappers of Printf of dependencies are not known. `make lint`
// runs the whole of staticcheck.
//
// It has a build tag, because `go test ./...` would compile it with the race detector.
package main
