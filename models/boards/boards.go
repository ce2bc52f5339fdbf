package boards

import "warpboard/models/db"

// Boards is the boards of one database.
type Boards struct {
	db        *db.DB
	summaries remembered
}

// New returns the boards of a database.
func New(database *db.DB) *Boards {
	return &Boards{db: database, summaries: newRemembered()}
}
