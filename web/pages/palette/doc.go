// Package palette answers what somebody types into the search of every page (Ctrl+K): tasks with their boards and the
// place to solve them, people, and own submissions. It asks one question of each kind.
package palette
