// Package login is the page on which a person lets a command line in (`warpboard login`), or refuses it: the middle of the
// device flow, whose ends are in web/api (login.go) and app/cli. Package web routes to it, behind sign-in.
//
// Read login.go: Show asks for a code, or shows who asks; Answer is the decision. The code may come in the address or be typed.
//
// What may go wrong: anyone who sends someone else a link with a code asks for that person's account. So the page says what asks,
// from which address and since when, nothing is decided by opening it, and a code is good for one answer.
package login
