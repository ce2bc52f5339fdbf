package migrations_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpboard/migrations"
)

// questions has queries for all columns, constraints, indexes, triggers, and sequences of a schema. They omit comments,
// and the rows of the version table.
var questions = map[string][]string{
	migrations.SQLite: {
		`select m.name, c.* from sqlite_master m, pragma_table_xinfo(m.name) c where m.type = 'table'`,
		`select m.name, f.* from sqlite_master m, pragma_foreign_key_list(m.name) f where m.type = 'table'`,
		`select m.name, i.*, x.* from sqlite_master m, pragma_index_list(m.name) i, pragma_index_xinfo(i.name) x where m.type = 'table'`,
		`select sql from sqlite_master where type in ('index', 'trigger')`,
		`select name, 'counts its ids', sql like '%autoincrement%', 'has a check', sql like '%check (%' from sqlite_master`,
	},
	migrations.Postgres: {
		`select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, pg_get_expr(d.adbin, d.adrelid),
			row_number() over (partition by c.oid order by a.attnum) -- a column that was dropped has a number, too
			from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind = 'r' and c.relnamespace = current_schema::regnamespace
			left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where a.attnum > 0 and not a.attisdropped`,
		`select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = current_schema::regnamespace`,
		`select replace(indexdef, current_schema || '.', '') from pg_indexes where schemaname = current_schema`,
		`select tgrelid::regclass::text, pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid
			where c.relnamespace = current_schema::regnamespace and not tgisinternal`,
		`select sequencename, data_type::text, start_value, increment_by, cycle from pg_sequences where schemaname = current_schema`,
	},
}

func schemaOf(t *testing.T, db *sql.DB, dialect string) (lines []string) {
	t.Helper()
	for _, question := range questions[dialect] {
		lines = append(lines, ask(t, db, question)...)
	}
	return lines
}

// rowsOf returns the rows of all tables as texts, by table.
func rowsOf(t *testing.T, db *sql.DB, dialect string) map[string][]string {
	t.Helper()
	tables := "select name from sqlite_master where type = 'table'"
	if dialect == migrations.Postgres {
		tables = "select tablename from pg_tables where schemaname = current_schema"
	}
	rows := map[string][]string{}
	for _, table := range ask(t, db, tables) {
		rows[table] = ask(t, db, "select * from "+table)
	}
	return rows
}

// ask returns the rows of a query as sorted texts.
func ask(t *testing.T, db *sql.DB, question string) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), question)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Join(strings.Fields(strings.Trim(fmt.Sprint(values), "[]")), " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
