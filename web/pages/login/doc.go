// Package login is the page on which a person lets a command line in (`warpboard login`), or refuses it: the middle of the
// device flow, whose ends are in web/api (login.go) and app/cli. Package web routes to it, behind sign-in.
//
// Read login.go: Show asks for a code, or shows the request; Answer is the decision. The code may be in the address or be typed.
//
// What may go wrong: a link with a code, sent to another person, asks for access to that person's account. So the page shows
// the program, its address and the time of the request; opening it decides nothing, and a code is valid for one answer.
package login
