package quota_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestStorageIsCountedByPersonAndTask checks the storage by person and by task, the total, and the data that the sweep
// deletes next.
func TestStorageIsCountedByPersonAndTask(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		admin, ann := modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
		bob := modelstest.Person(t, s, "Bob", accounts.RoleUser)
		task, other := modelstest.Task(t, s, admin, "sort", "H200"), modelstest.Task(t, s, admin, "sum", "H200")
		run := modelstest.SubmitSource(t, s, ann, task, "0123456789")[0]
		modelstest.SubmitSource(t, s, bob, task, "0123456789")
		modelstest.SubmitSource(t, s, bob, other, "012")
		attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
		if err != nil {
			t.Fatal(err)
		}
		result := modelstest.Result(attempt, 1e6)
		result.Outcome, result.Failure = job.OutcomeFailed, &job.Failure{Reason: "No."}
		result.Artifacts = []job.Artifact{{Name: "profile.0.json.gz", Type: "application/json", Size: 7,
			Data: []byte("profile")}}
		if _, err := s.Work.RecordResult(t.Context(), result, work.ResultFindings{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Quotas.StorageByPerson(t.Context(), ann); db.KindOf(err) != db.Forbidden {
			t.Errorf("a person reads who takes room: %v", err)
		}
		people, err := s.Quotas.StorageByPerson(t.Context(), admin)
		if err != nil || len(people) != 2 || people[0].Name != "Ann" || people[0].ArtifactsBytes != 7 ||
			people[0].SourceBytes != 10 ||
			people[1].SubmissionCount != 2 || people[1].SourceBytes != 13 || people[1].ArtifactCount != 0 {
			t.Errorf("people: %+v, %v", people, err)
		}
		tasks, err := s.Quotas.StorageByTask(t.Context(), admin)
		if err != nil || len(tasks) != 2 || tasks[0].TaskSlug != "sort" || tasks[0].SourceBytes != 20 ||
			tasks[0].ArtifactCount != 1 || tasks[1].SubmissionCount != 1 {
			t.Errorf("tasks: %+v, %v", tasks, err)
		}
		total, next, err := s.StorageToDelete(t.Context(), admin, time.Now())
		if err != nil || total.ArtifactCount != 1 || total.ArtifactBytes != 7 || total.BlobBytes < 13 ||
			total.EventCount == 0 || next.ArtifactCount != 0 {
			t.Errorf("total: %+v, next %+v, %v", total, next, err)
		}
		_, next, err = s.StorageToDelete(t.Context(), admin, time.Now().Add(91*24*time.Hour))
		if err != nil || next.ArtifactCount != 1 || next.ArtifactBytes != 7 || next.EventCount != total.EventCount {
			t.Errorf("in 91 days: %+v, %v", next, err)
		}
	})
}
