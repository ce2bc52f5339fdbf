// Package trial tests a task with submissions whose verdict is known: correct ones must pass, wrong ones must fail.
// verify-task runs them on its own machine, the pages for authors on the site's workers.
//
// An infrastructure error gives no verdict, and a task whose correct solution fails gives none about the wrong ones.
//
// A wrong solution that passes is either a gap in the task's check or correct by luck. The author decides.
package trial
