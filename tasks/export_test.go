package tasks

// SubmissionSuffixes returns the suffixes that additional files of a submission in lang may have.
func SubmissionSuffixes(lang Lang) []string { return additionalFileSuffixes[lang] }
