package fleet

import "warpboard/models/db"

// Fleet is the workers of one database.
type Fleet struct {
	db   *db.DB
	said said
}

// New returns the workers of a database.
func New(database *db.DB) *Fleet { return &Fleet{db: database, said: newSaid()} }
