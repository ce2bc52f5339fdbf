// Package moderation is the pages by which people keep the boards honest and the site in order.
//
// Read run.go first: the page of one run, where it is reported, and where its author and admins decide. Then review.go
// (runs that wait for a look), people.go (people, their names, deleting submissions), silicon.go (of
// what silicon old runs are) and audit.go (who did what).
//
// Who may do what is the table of rights in models/accounts; these pages ask it what to offer, and the store asks it
// again. A form that was refused comes back with what was typed.
package moderation
