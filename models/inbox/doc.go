// Package inbox holds people's notices: that a run ended, that they lost a record or a place, that someone commented,
// that a task closes soon.
//
//	notice.go   Notice, its sentence and its path
//	read.go     a person's notices; read ones; those that they turned off
//	tell.go     the people to notify; adding notices
//	mail.go     mails of notices, and their address
//	post.go     sending mails, and the links that turn them off
//
// Notices are made after the transaction of their event, by the same queue as deliveries to webhooks (Store.tell), so
// that the end of a run does not wait for them.
//
// A notice is only made for a person who may see its task at that moment, and only listed while they may; so the number
// of unread ones reveals nothing about tasks that they may not see. While a person has not read one, no second of the
// same kind about the same object is made: a thousand comments are one notice. A notice contains no text of people: its
// words come from the rows that it references.
//
// Trap: the number of unread notices includes those of a task that was hidden since; reading the inbox resets it.
package inbox
