// Package flags knows which compile flags a task may set, for g++ or for nvcc. They come from task creators and reach a
// compiler that reads files and starts programs. The sandbox bounds what that can do; here only what tunes code generation,
// warnings and definitions passes.
//
// What may go wrong: a flag that a compiler comes to know later may do more than its form tells, so flags are allowed by list.
package flags
