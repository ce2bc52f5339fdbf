package tasks

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed examples
var examples embed.FS

// Examples gives the built-in tasks, by name.
func Examples() ([]*Bundle, error) {
	sub, err := fs.Sub(examples, "examples")
	if err != nil {
		return nil, fmt.Errorf("opening the built-in tasks: %w", err)
	}
	bundles, err := OpenFolder(sub, Options{}).Bundles()
	if err != nil {
		return nil, fmt.Errorf("reading the built-in tasks: %w", err)
	}
	return bundles, nil
}

// ExampleSolutions gives the right and wrong submissions that come with a built-in task.
func ExampleSolutions(name string) ([]Solution, error) {
	return Solutions(examples, "examples/"+name)
}
