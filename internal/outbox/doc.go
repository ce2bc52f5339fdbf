// Package outbox sends messages of the site to other programs and to people: the deliveries of models/webhooks and the
// mails of models/inbox. Both are rows, written in the transaction of the event that they report. Each process of a
// site sends messages. A process first claims a message for a limited time: until then no other process sends it, and
// if the process dies, another one sends it afterwards.
//
// Read loop.go (a pass over what is due, and what both senders share). Webhooks: deliverer.go, then chat.go (texts for
// chats), then sender.go (the request: signed as in standardwebhooks.com, retried after growing pauses, and only to
// addresses outside the operator's own network, about which the guard of models/webhooks decides). Mails: mailer.go
// (due mails, retries), then smtp.go (the operator's SMTP server), then message.go (a mail as text).
//
// No name or text in a mail can become a header or another recipient. Passwords are sent only over TLS, except to this
// machine. An unavailable server does not count as a failed try of a mail.
package outbox
