-- +goose Up
-- A score is a time that a clock can show: finite, and 1 ns or more. A run with another one is disqualified, with
-- its numbers in the reason, and its boards are made anew when the program opens the database. NaN is above
-- infinity here, so that one comparison keeps out both.
insert into settings (key, value) select 'rebuild_boards', 'scores' where exists (select 1 from runs where
    not (coalesce(score_ns, 1) >= 1 and coalesce(score_ns, 1) < 'infinity' and std_ns >= 0 and std_ns < 'infinity' and err_ns >= 0 and err_ns < 'infinity'));
delete from entries where not (score_ns >= 1 and score_ns < 'infinity' and std_ns >= 0 and std_ns < 'infinity' and err_ns >= 0 and err_ns < 'infinity');
delete from records where not (score_ns >= 1 and score_ns < 'infinity');
update run_events set score_ns = null where not (score_ns >= 1 and score_ns < 'infinity');
update runs set
    disqualified_at = current_timestamp,
    disqualified_why = format('Its score of %s ns (standard deviation %s ns, standard error %s ns) is not a time that a clock can show: finite, and 1 ns or more.',
        score_ns, std_ns, err_ns),
    score_ns = null, std_ns = 0, err_ns = 0
where not (coalesce(score_ns, 1) >= 1 and coalesce(score_ns, 1) < 'infinity' and std_ns >= 0 and std_ns < 'infinity' and err_ns >= 0 and err_ns < 'infinity');

alter table runs add constraint runs_score
    check (score_ns >= 1 and score_ns < 'infinity' and std_ns >= 0 and std_ns < 'infinity' and err_ns >= 0 and err_ns < 'infinity');

-- A person's page asks for all of their entries.
create index entries_user on entries (user_id);
