// Package workbench is the page to solve a task: its description, an editor, and the run of the edited source in one place
// (Workbench.Solve). Without JavaScript its form leads to the submission's own page.
package workbench
