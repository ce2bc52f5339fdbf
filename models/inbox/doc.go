// Package inbox holds what people are told: that a run ended, that they lost a record or a place, that someone
// commented, that a task closes soon.
//
//	notice.go   Notice, its sentence and its address
//	read.go     a person's notices; what is read; what they turned off
//	tell.go     who is told of what; adding notices
//	mail.go     mails of notices, and the address that they go to
//	post.go     how mails are sent, and the links that turn them off
//
// Notices are made after the transaction in which something happened, by the same queue as deliveries to webhooks
// (Store.tell), so that the end of a run waits for none of it.
//
// It promises that a notice is only made for a person who may see its task at that moment, and only listed while they
// may; so the number of unread ones says nothing of tasks that they may not see. While a person has not read one, no
// second of the same kind about the same thing is made: a thousand comments are one notice. A notice holds no text of
// anyone: its words come from the rows that it names.
//
// What may go wrong: the number of unread notices counts those of a task that was hidden since; reading the inbox
// resets it.
package inbox
