// Package tags has the form of tags, and the tags for a task's difficulty.
package tags
