package client

// JSONLines is the media type of a body with one JSON value per line.
const JSONLines = "application/x-ndjson"

// NewBatch has up to 1,000 requests for evaluations.
type NewBatch struct {
	Requests []any `json:"requests" jsonschema:"up to 1,000, each as for POST /api/v1/evaluations"`
}

// Batch is the result of a batch: one entry per request, in request order.
type Batch struct {
	ID            string       `json:"id,omitempty" jsonschema:"absent when all requests were refused"`
	Results       string       `json:"results,omitempty" jsonschema:"address of the results, as JSON lines"`
	AcceptedCount int          `json:"taken" jsonschema:"how many requests became evaluations"`
	Entries       []BatchEntry `json:"entries" jsonschema:"one per request, in order"`
	EvaluationKey string       `json:"key,omitempty" jsonschema:"only when it was sent without a token: send it as X-Evaluation-Key to read and cancel this batch, and with the next ones"`
}

// BatchEntry has an evaluation, or the reason why its request was refused.
type BatchEntry struct {
	ID      string   `json:"id,omitempty" jsonschema:"of the evaluation"`
	Problem *Problem `json:"problem,omitempty" jsonschema:"why the request was refused"`
}

// BatchResult is one line of the results of a batch: an evaluation that has ended, or the end of the batch.
type BatchResult struct {
	Number     int64       `json:"number" jsonschema:"place of this result, from 1; of the last line, how many there are. Ask for the next ones with ?after="`
	Index      int         `json:"index" jsonschema:"place of its request in the batch, from 0"`
	Evaluation *Evaluation `json:"evaluation,omitempty" jsonschema:"without its request"`
	End        bool        `json:"end,omitempty" jsonschema:"the last line: all evaluations of the batch have ended"`
}
