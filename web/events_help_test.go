package web_test

import (
	"context"
	"testing"

	"warpboard/models"
)

// storedIDs returns the IDs of the events that a watcher must have received in the end.
func storedIDs(t testing.TB, store *models.Store, submissionID int64) []int64 {
	t.Helper()
	events, err := store.Work.EventsSince(context.Background(), submissionID, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}
