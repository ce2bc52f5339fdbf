// Package mailer sends the mails that wait in models/inbox, over the operator's SMTP server.
//
// Read mailer.go (what is due, retries), then smtp.go (the server), then message.go (a mail as text).
//
// It promises that no name or text in a mail becomes a header or another recipient; that a password is sent over TLS alone,
// except to this machine; and that a server that is away costs no mail its tries.
package mailer
