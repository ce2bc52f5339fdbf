// Package inplace changes the value of one key at the top of a YAML text, and leaves every other byte as its author wrote
// it: comments, order, quotes, indentation, line ends.
//
// Set in inplace.go is the way in; span.go finds where a value lies, render.go writes one. The parser of package yaml says
// where a value begins and not where it ends, so ends are found here. A wrong guess does no harm: Set reads its result again
// and refuses one in which any other value has changed. What it refuses, such as a value with an anchor or a text over
// several lines, an author changes in the text.
package inplace
