// Package compileflags decides which compile flags a task may set, for g++ or for nvcc. They come from task creators and reach a
// compiler that reads files and starts programs. The sandbox bounds the damage; this package allows only flags for code
// generation, warnings and definitions.
//
// What may go wrong: a future compiler may have a flag with a harmless form and dangerous effects, so flags are allowed by list.
package compileflags
