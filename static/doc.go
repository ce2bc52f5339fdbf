// Package static embeds the built stylesheet, scripts and font, under addresses that change whenever their content
// does, so that browsers may keep them for ever. It is small and a package for being the folder of these files.
//
// `make static` builds the files from css/ and js/. The hash of what they were built from is among them: a test fails
// if a source was edited and not built.
package static
