// Package workbench is the page where a task is solved: what it asks for, an editor, and the run of what was written,
// all in one place (Workbench.Solve). Without JavaScript its form leads to the submission's own page.
package workbench
