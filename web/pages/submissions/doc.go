// Package submissions has the pages of a submission: its runs, profiles, comparisons, comments, and the workbench where
// one is written.
//
// Read submissions.go, then events.go (the stream that renews its cards), workbench.go (a task's editor with the run of
// the edited source), profile.go (one Nsight Compute report), compare.go and pick.go (two runs), export.go (the same as
// JSON, CSV, and files), and comments.go (also those on tasks). A refused form keeps its text.
//
// Live HTML is the same for everyone, so it contains only what all may read. Instructions and report files hold the
// program: only those who may see the source get them. CSV goes through site.SendCSV, because a spreadsheet runs text
// that begins like a formula.
package submissions
