// Package views renders Warpboard's pages. Each page has one struct, its view model, beside its
// component; components only show what the struct holds and ask nothing of a store.
package views

//go:generate go tool templ generate -path .
