-- +goose Up
-- Why a run waits for somebody to look before it counts: its score is below the floor of its unit, or above its roof.
-- Empty: it counts, or somebody has looked.
alter table runs add column held_why text not null default '';
-- How near the score is to what the unit can do at best, from 0 to 1; null where the task does not say what a call
-- takes, or the unit was not gauged.
alter table runs add column roof real;
alter table entries add column roof real;
drop index runs_valid;
create index runs_valid on runs (version_id, device, user_id, epoch_id desc, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and profile_of is null and held_why = '';

-- An interval is made of times that a clock can show, as the score is.
update runs set interval_low = null, interval_high = null where (interval_low is not null or interval_high is not null)
    and not coalesce(interval_low >= 1 and interval_high >= interval_low and interval_high < 9e999, 0);
-- +goose StatementBegin
create trigger runs_interval_update before update of interval_low, interval_high, roof on runs
when not ((new.interval_low is null and new.interval_high is null
    or coalesce(new.interval_low >= 1 and new.interval_high >= new.interval_low and new.interval_high < 9e999, 0))
    and coalesce(new.roof > 0 and new.roof < 9e999, new.roof is null))
begin
    select raise(abort, 'constraint runs_interval: an interval is of times that a clock can show');
end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger entries_score_insert before insert on entries when not (new.score_ns >= 1 and new.score_ns < 9e999)
begin
    select raise(abort, 'constraint entries_score: a score is finite and 1 ns or more');
end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger entries_score_update before update of score_ns on entries when not (new.score_ns >= 1 and new.score_ns < 9e999)
begin
    select raise(abort, 'constraint entries_score: a score is finite and 1 ns or more');
end;
-- +goose StatementEnd
