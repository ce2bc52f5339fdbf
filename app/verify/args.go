package verify

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

// parseWithArgs parses flags that may stand before, between and after arguments, and returns these.
// Package flag stops at the first argument. "--" is not kept apart: what follows it is read as flags again after one
// argument.
func parseWithArgs(fs *flag.FlagSet, args []string) (given []string, err error) {
	for {
		if err := fs.Parse(args); err != nil || fs.NArg() == 0 {
			return given, err
		}
		given, args = append(given, fs.Arg(0)), fs.Args()[1:]
	}
}

// parseWithFile parses flags around one file argument.
func parseWithFile(fs *flag.FlagSet, args []string) (string, error) {
	given, err := parseWithArgs(fs, args)
	switch {
	case err != nil:
		return "", err
	case len(given) == 0:
		fs.Usage()
		return "", errors.New("the file or folder is missing")
	case len(given) > 1:
		return "", fmt.Errorf("got %q beside %q: name one file or folder", given[1], given[0])
	}
	return given[0], nil
}

// ns shows nanoseconds as a duration, to the hundredth of a microsecond.
func ns(v float64) time.Duration { return time.Duration(v).Round(10 * time.Nanosecond) }
