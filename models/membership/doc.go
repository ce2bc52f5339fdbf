// Package membership holds who joined a members' board, and the invite codes by which people join. A board is a task
// whose visibility is members; package catalog decides with its rows who sees it (models/catalog/sight.go).
//
// Read invite.go first (codes: made, listed, revoked), then join.go (what a code does) and member.go (who is in,
// leaving, and removing someone).
//
// It promises that a code with a limit never lets in one person too many, also of two that join at once; that no code
// is stored, only its hash; and that a person who was removed does not come back with a code from before. A code of a
// task that is not for members does nothing. People whom it tells nothing new (members, the author, admins) use up no
// code.
//
// What may go wrong: members see who else is on a board, and tell others what they see.
package membership
