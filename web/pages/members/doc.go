// Package members is the pages of boards that are for members: where people join with an invite code, and where the author of a
// task makes codes and sees who used them. Package web routes to it; models/membership keeps both.
//
// Read join.go (from a link or a typed code to the task), then members.go (codes and members of one task).
//
// It promises that looking at a link joins nothing, that a code is shown once, and that a refused form comes back with its reason.
package members
