// Package login is the page on which a person lets a command line in (`warpboard login`), or refuses it. The code may come
// in the address or be typed. Whoever sends somebody else a link asks for an account: the page says what asks, and from where.
package login
