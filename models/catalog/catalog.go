package catalog

import "warpboard/models/db"

// Catalog reads and stores the tasks of one database.
type Catalog struct{ db *db.DB }

// New returns the tasks of a database.
func New(database *db.DB) *Catalog { return &Catalog{db: database} }
