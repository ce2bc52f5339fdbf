// Package submissions has the pages of a submission: its runs, profiles, comparisons, comments, and the workbench where
// one is written.
//
// Read submissions.go, then events.go (the stream that updates the cards of its runs), workbench.go (a task's editor
// with the run of the edited source), profile.go (one Nsight Compute report), compare.go and pick.go (two runs),
// export.go (the same as JSON, CSV, and files), and comments.go (also those on tasks). A refused form keeps its text.
//
// The HTML in streams of events is the same for all readers, so it contains only public data. Instructions and report
// files reveal the program, so only people who may see the source get them. CSV is sent with site.SendCSV, because a
// spreadsheet runs text that begins like a formula.
package submissions
