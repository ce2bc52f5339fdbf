// Package moderation has the pages to review runs and to manage people.
//
// Read run.go first: the page to report one run, and for its task's author and admins to decide. Then review.go (runs that
// wait for a review), people.go (people, their names, deleting submissions), and
// audit.go (who did what).
//
// models/accounts has the table of rights; these pages use it to decide what to offer, and the store checks it again. A
// refused form keeps its input.
package moderation
