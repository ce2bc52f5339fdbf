package work

// Purpose is why a run measures a source.
type Purpose string

// The purposes of ranked measurements. A person chooses when the first is made, the site the others: these select nothing.
const (
	Submitted Purpose = "submitted" // a person sent it
	Confirm   Purpose = "confirm"   // a leg of a confirmation
	Remeasure Purpose = "remeasure" // measured again, for new software or on request
)
