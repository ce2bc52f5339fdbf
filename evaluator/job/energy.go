package job

// Energy is what a unit drew while calls of a ranked run's longest case were made in a row, after its score was taken. It
// is the whole board's, idle power included; nothing is subtracted.
type Energy struct {
	Joules float64 `json:"joules,omitempty" jsonschema:"of one call; absent: it was not measured"`
	Watts  float64 `json:"watts,omitempty" jsonschema:"on average, by the GPU's own counter"`
	Calls  int64   `json:"calls,omitempty" jsonschema:"made in a row"`
	MeanNS float64 `json:"mean_ns,omitempty" jsonschema:"time of one of them, by the judge's clock"`
	Case   string  `json:"case,omitempty"`
	Why    string  `json:"why,omitempty" jsonschema:"why it was not measured"`
}
