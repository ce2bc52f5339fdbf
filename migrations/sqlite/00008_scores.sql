-- +goose Up
-- A score is a time that a clock can show: finite, and 1 ns or more. A run with another one is disqualified, with
-- its numbers in the reason, and its boards are made anew when the program opens the database.
insert into settings (key, value) select 'rebuild_boards', 'scores' where exists (select 1 from runs where
    not (coalesce(score_ns, 1) >= 1 and coalesce(score_ns, 1) < 9e999 and std_ns >= 0 and std_ns < 9e999 and err_ns >= 0 and err_ns < 9e999));
delete from entries where not (score_ns >= 1 and score_ns < 9e999 and std_ns >= 0 and std_ns < 9e999 and err_ns >= 0 and err_ns < 9e999);
delete from records where not (score_ns >= 1 and score_ns < 9e999);
update run_events set score_ns = null where not (score_ns >= 1 and score_ns < 9e999);
update runs set
    disqualified_at = strftime('%Y-%m-%d %H:%M:%f+00:00', 'now'),
    disqualified_why = printf('Its score of %.17g ns (standard deviation %.17g ns, standard error %.17g ns) is not a time that a clock can show: finite, and 1 ns or more.',
        score_ns, std_ns, err_ns),
    score_ns = null, std_ns = 0, err_ns = 0
where not (coalesce(score_ns, 1) >= 1 and coalesce(score_ns, 1) < 9e999 and std_ns >= 0 and std_ns < 9e999 and err_ns >= 0 and err_ns < 9e999);

-- SQLite adds no check to a table that is there: two triggers are the constraint. 9e999 is infinity.
-- +goose StatementBegin
create trigger runs_score_insert before insert on runs
when not (coalesce(new.score_ns, 1) >= 1 and coalesce(new.score_ns, 1) < 9e999 and new.std_ns >= 0 and new.std_ns < 9e999 and new.err_ns >= 0 and new.err_ns < 9e999)
begin
    select raise(abort, 'constraint runs_score: a score is finite and 1 ns or more');
end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger runs_score_update before update of score_ns, std_ns, err_ns on runs
when not (coalesce(new.score_ns, 1) >= 1 and coalesce(new.score_ns, 1) < 9e999 and new.std_ns >= 0 and new.std_ns < 9e999 and new.err_ns >= 0 and new.err_ns < 9e999)
begin
    select raise(abort, 'constraint runs_score: a score is finite and 1 ns or more');
end;
-- +goose StatementEnd

-- A person's page asks for all of their entries.
create index entries_user on entries (user_id);
