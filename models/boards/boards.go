package boards

import (
	"warpboard/internal/cache"
	"warpboard/models/db"
)

// Boards reads and updates the boards of one database.
type Boards struct {
	db    *db.DB
	cache *boardCache
}

// New returns the boards of a database.
func New(database *db.DB) *Boards {
	return &Boards{database, cache.New[any, any](maxCacheBytes)}
}
