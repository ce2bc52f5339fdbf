// Package problems describes errors in an upload so that its author can fix them: file, line, key, and a sentence, all
// at once. The task format and readers of zips create them; pages, the API, and commands show them, using In.
//
// An error that contains a Problem is the author's to fix, any other is the machine's; no reading collects more than
// 50.
package problems
