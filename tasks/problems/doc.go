// Package problems says what is wrong with an upload so that its author can fix it: file, line, key and a sentence, all of them at
// once. The task format and what reads zips make them; pages, the API and commands show them, by In.
//
// It promises: an error that holds a Problem is the author's to fix, any other is the machine's; no reading collects more than 50.
package problems
