-- +goose Up
-- An address is many people's: an evaluation of a caller without a token or a session belongs to whoever has its
-- key. Those made before there were keys belong to nobody.
alter table evaluations add column owner text not null default '';
alter table evaluations add column shared boolean not null default false;
update evaluations set owner = caller where caller not like 'address:%';
create index evaluations_owner on evaluations (owner, created_at);
