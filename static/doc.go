// Package static embeds the built stylesheet, scripts, and font, under addresses that change whenever their content
// does, so that browsers may cache them forever. It is a separate package because go:embed needs the files in its
// folder.
//
// `make static` builds the files from css/ and js/, and writes a hash of these sources: a test fails if a source was
// edited and not built.
package static
