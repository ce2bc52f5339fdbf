// Package compileflags decides which compile flags a task may set, for g++ or for nvcc. They come from task creators
// and reach a compiler that reads files and starts programs. The sandbox limits the damage; this package allows only
// flags for code generation, warnings, and definitions.
//
// Flags are allowed by list, because a future compiler may give a harmless-looking flag dangerous effects.
package compileflags
