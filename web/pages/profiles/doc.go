// Package profiles is the pages about what a run's time went into: Nsight Compute reports, comparisons of two
// runs, timelines; each also as JSON, CSV or file.
//
// Read details.go (one report), compare.go (two runs), export.go and file.go (downloads). Instructions and report
// files hold the program: only those who may see the source get them. CSV goes through sendCSV, because a
// spreadsheet runs text that begins like a formula.
package profiles
