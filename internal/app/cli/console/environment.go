package console

import "io"

// Environment is a command's access to the outside world.
type Environment struct {
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Version        string // version of this program; empty if unknown
}
