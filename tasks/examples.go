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
	upload, err := openExamples()
	if err != nil {
		return nil, err
	}
	bundles, err := upload.Bundles()
	if err != nil {
		return nil, fmt.Errorf("reading the built-in tasks: %w", err)
	}
	return bundles, nil
}

// ExampleSolutions gives the right and wrong submissions that come with a built-in task.
func ExampleSolutions(name string) ([]Solution, error) {
	upload, err := openExamples()
	if err != nil {
		return nil, err
	}
	return upload.Solutions(name)
}

func openExamples() (*Upload, error) {
	sub, err := fs.Sub(examples, "examples")
	if err != nil {
		return nil, fmt.Errorf("opening the built-in tasks: %w", err)
	}
	return OpenFolder(sub, Options{}), nil
}
