-- +goose Up
-- Why a run is made is in one column.
alter table runs add column purpose text not null default 'submitted';
update runs set purpose = case when mode in ('baseline', 'practice', 'profile', 'validate') then mode when confirmation_id is not null then 'confirm' else 'remeasure' end
    where profile_of is not null or mode in ('baseline', 'practice');
-- The words of the conditions and the expression are those of models/boards/rank.go and models/work/work.go: otherwise the databases
-- cannot use the indexes.
drop index runs_valid;
create index runs_valid on runs (version_id, device, user_id, epoch_id desc, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and purpose = 'submitted' and held_why = '';
drop index runs_last_end;
create index runs_last_end on runs (device, user_id,
    (case when purpose in ('submitted', 'practice') or overdue then 1 when purpose = 'baseline' then 3 when purpose = 'remeasure' then 4 else 2 end), ended_at)
    where ended_at is not null and dispatched_at is not null and purpose <> 'confirm';
