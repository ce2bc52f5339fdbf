-- +goose Up
-- What the processes of a confirmation's leg measured, by case, in JSON: the interval of a confirmed score is made of them. Of legs from
-- before, what their runs keep.
alter table legs add column cases text not null default '[]';
update legs set cases = (select m.cases from measurements m where m.run_id = legs.run_id)
    where exists (select 1 from measurements m where m.run_id = legs.run_id);
