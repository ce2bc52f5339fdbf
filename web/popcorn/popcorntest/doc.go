// Package popcorntest makes the calls of popcorn-cli for tests, with the same bytes: how it joins addresses, what its forms and
// headers hold, how it polls a submission, and how it reads a stream. It takes from answers what popcorn-cli takes, and
// fails where that would. Nothing of popcorn-cli's own code is in it.
//
// Read client.go (calls and refusals), submit.go (polling), stream.go (events).
package popcorntest
