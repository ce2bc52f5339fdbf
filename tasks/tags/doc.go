// Package tags knows the words that describe tasks: what a tag may be, and those that say how hard a task is.
package tags
