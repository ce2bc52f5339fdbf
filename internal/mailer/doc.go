// Package mailer sends the mails of models/inbox over the operator's SMTP server.
//
// Read mailer.go (due mails, retries), then smtp.go (the server), then message.go (a mail as text).
//
// No name or text in a mail can become a header or another recipient. Passwords are sent only over TLS, except to this
// machine. An unavailable server does not count as a failed try of a mail.
package mailer
