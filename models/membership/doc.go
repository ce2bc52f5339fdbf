// Package membership holds the members of members' boards, and the invite codes for joining. A board is a task whose
// visibility is members; package catalog uses these rows to decide who sees it (models/catalog/sight.go).
//
// Read invite.go first (creating, listing, and revoking codes), then join.go (using a code) and member.go (members,
// leaving, and removing someone).
//
// A code with a limit never admits one person too many, even if two join at once. Only the hash of a code is stored. A
// removed person cannot come back with an earlier code. A code of a task that is not for members does nothing. People
// who see the task anyway (members, the author, admins) do not use up a code.
//
// Weakness: members see the others on a board, and can tell others what they see.
package membership
