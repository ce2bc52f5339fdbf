// Package sites keeps the sites that someone has signed in to, each with a token, in a file for its owner alone.
package sites
