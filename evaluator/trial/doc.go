// Package trial judges a task by submissions of a known verdict: correct ones must pass, wrong ones must be found wrong. It is
// a leaf; verify-task runs them on its own machine, the pages for authors on the site's workers.
//
// It promises verdicts only from evidence: an infrastructure error gives none, and a task whose correct solution fails has
// none about the wrong ones.
//
// What may go wrong: a wrong solution that passes is either a hole in the task's check or right by luck. The author decides.
package trial
