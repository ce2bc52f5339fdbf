package console

import "io"

// Environment has the files, variables, and streams that a command uses.
type Environment struct {
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Version        string // version of this program; empty if unknown
}
