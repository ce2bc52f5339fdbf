// Package popcorntest makes the calls of popcorn-cli for tests, with the same bytes: joined addresses, forms and
// headers, polling, and streams. It reads the same parts of answers, and fails where popcorn-cli would. Nothing of
// popcorn-cli's own code is in it.
//
// Read client.go (calls and refusals), submit.go (polling), stream.go (events).
package popcorntest
