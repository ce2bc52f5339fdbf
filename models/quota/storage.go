package quota

import (
	"context"
	"fmt"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// StorageUse is the storage that a person or a task uses.
type StorageUse struct {
	ID              int64
	Name            string // name of the person, or title of the task
	TaskSlug        string `gorm:"column:slug"` // empty for a person
	SubmissionCount int    `gorm:"column:submissions"`
	SourceBytes     int64
	ArtifactCount   int `gorm:"column:artifacts"`
	ArtifactsBytes  int64
}

// StorageTotal is the total of all stored data. Equal contents count once.
type StorageTotal struct {
	// BlobCount and BlobBytes count the contents in the database: sources, and the files of tasks.
	BlobCount       int64 `gorm:"column:blobs"`
	BlobBytes       int64
	ArtifactCount   int64 `gorm:"column:artifacts"`
	ArtifactBytes   int64
	EvaluationCount int64 `gorm:"column:evaluations"`
	EventCount      int64 `gorm:"column:events"`
}

// SweepPreview is the data that the sweep will delete within some time.
type SweepPreview struct {
	ArtifactCount, ArtifactBytes int64
	EvaluationCount, EventCount  int64
}

// maxListedStorageUses limits the listed people and tasks to the largest.
const maxListedStorageUses = 50

// storageQuery returns a query that sums storage by a group: its joins, its columns, and the grouping.
func storageQuery(group string) string {
	return `
	with sources as (
		select ` + group + ` as id, count(*) as submissions, sum(blobs.size) as bytes
		from submissions join blobs on blobs.hash = submissions.source_hash group by ` + group + `),
	files as (
		select ` + group + ` as id, count(*) as artifacts, sum(artifacts.size) as bytes
		from artifacts join runs on runs.id = artifacts.run_id join submissions on submissions.id = runs.submission_id group by ` + group + `)
	select named.id, %s, sources.submissions, sources.bytes as source_bytes,
		coalesce(files.artifacts, 0) as artifacts, coalesce(files.bytes, 0) as artifacts_bytes
	from sources join %s as named on named.id = sources.id left join files on files.id = sources.id
	order by sources.bytes + coalesce(files.bytes, 0) desc, named.id limit ?`
}

// StorageByPerson lists the people who use the most storage. Only admins may call the storage functions.
func (q *Quotas) StorageByPerson(ctx context.Context, actor accounts.User) (list []StorageUse, err error) {
	return q.listStorage(ctx, actor, "submissions.user_id", "named.name, '' as slug", "users")
}

// StorageByTask lists the tasks that use the most storage.
func (q *Quotas) StorageByTask(ctx context.Context, actor accounts.User) (list []StorageUse, err error) {
	return q.listStorage(ctx, actor, "submissions.task_id", "named.title as name, named.slug", "tasks")
}

func (q *Quotas) listStorage(
	ctx context.Context, actor accounts.User, group, columns, table string,
) (list []StorageUse, err error) {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return nil, err
	}
	err = q.db.Read(ctx).Raw(fmt.Sprintf(storageQuery(group), columns, table), maxListedStorageUses).Scan(&list).Error
	return list, db.ReadError(err, "storage of %s", table)
}

// StorageTotal returns the total of all stored data, and of the parts that are older than the given times, which will
// be deleted.
func (q *Quotas) StorageTotal(
	ctx context.Context, actor accounts.User, goes SweepTimes,
) (total StorageTotal, next SweepPreview, err error) {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return total, next, err
	}
	const onBoards = "select run_id from entries union select run_id from records"
	var row struct {
		StorageTotal `gorm:"embedded"`

		NextArtifacts, NextArtifactBytes, NextEvaluations, NextEvents int64
	}
	err = q.db.Read(ctx).Raw(`select
		(select count(*) from blobs) as blobs, (select coalesce(sum(size), 0) from blobs) as blob_bytes,
		(select count(*) from (select distinct hash from artifacts) as contents) as artifacts,
		(select coalesce(sum(size), 0) from (select distinct hash, size from artifacts) as contents) as artifact_bytes,
		(select count(*) from evaluations) as evaluations, (select count(*) from run_events) as events,
		count(*) as next_artifacts, coalesce(sum(size), 0) as next_artifact_bytes,
		(select count(*) from evaluations where ended_at < ?) as next_evaluations,
		(select count(*) from run_events where created_at < ?) as next_events
		from artifacts where created_at < ? and run_id not in (select id from runs where id in (`+onBoards+`) or profile_of in (`+onBoards+`))`,
		db.NormalizeTime(goes.Evaluations), db.NormalizeTime(goes.Events), db.NormalizeTime(goes.Artifacts)).Scan(&row).Error
	next = SweepPreview{row.NextArtifacts, row.NextArtifactBytes, row.NextEvaluations, row.NextEvents}
	return row.StorageTotal, next, db.ReadError(err, "storage")
}

// SweepTimes has the times before which data is deleted, by the time at which it was created or ended.
type SweepTimes struct{ Artifacts, Evaluations, Events time.Time }
