-- +goose Up
-- What the same two kernels took on a unit, again and again: it shows when the unit is not what it was.
create table sentinels (
    worker text not null,
    unit text not null, -- hash of its UUID
    at datetime not null, -- by the worker's clock
    device text not null,
    read_ns real not null,
    math_ns real not null,
    primary key (worker, unit, at)
);
create index sentinels_device on sentinels (device, at);
