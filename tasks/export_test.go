package tasks

// SubmissionSuffixes are those that a further file of a submission may have, in a language.
func SubmissionSuffixes(lang Lang) []string { return additionalFileSuffixes[lang] }
