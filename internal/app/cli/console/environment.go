package console

import "io"

// Environment is what a command may use of the outside world.
type Environment struct {
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Version        string // of this program; empty: not known
}
