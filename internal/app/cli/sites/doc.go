// Package sites keeps the sites that somebody has signed in to, each with a token, in a file for its owner alone.
package sites
