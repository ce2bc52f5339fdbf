-- +goose Up
-- A hold names the run that failed: its reason is shown with that run. What holds a run back is decided in models/hold.go.
alter table holds add column run_id bigint not null default 0; -- 0: unknown
update holds set run_id = coalesce((select min(r.id) from flags f join runs r on r.id = f.run_id join submissions s on s.id = r.submission_id
    where f.kind = 'unconfirmed' and f.closed_at is null and r.version_id = holds.version_id and r.device = holds.device
        and r.user_id = holds.user_id and s.source_key = holds.source_key), 0);
update holds set why = coalesce((select held_why from runs where id = holds.run_id), '') where why = '';
