// Package inbox is the page of what a person was told, and of what they choose to be told. models/inbox decides who is told.
//
// What may go wrong: looking at the newest notices marks them as read, so a browser that loads pages in advance must say that
// it does (Sec-Purpose).
package inbox
