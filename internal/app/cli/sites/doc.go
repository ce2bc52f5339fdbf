// Package sites stores the sites that a person has signed in to, each with a token, in a file that only its owner can
// read.
package sites
