package accounts

import "warpboard/models/db"

// Accounts reads and stores the accounts in one database.
type Accounts struct{ db *db.DB }

// New returns the accounts of a database.
func New(database *db.DB) *Accounts { return &Accounts{db: database} }
