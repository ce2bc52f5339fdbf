package catalog

import (
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// Blob is the content of files of tasks and submissions. Equal contents are stored once.
type Blob struct {
	Hash      string `gorm:"primaryKey"` // SHA-256, hex
	Size      int64
	Data      []byte
	CreatedAt time.Time
}

// PutBlob stores a content unless it exists, and returns its hash.
func PutBlob(tx *gorm.DB, data []byte) (hash string, err error) {
	if data == nil {
		data = []byte{} // nil would mean a missing file
	}
	hash = db.Hash(data)
	blob := Blob{Hash: hash, Size: int64(len(data)), Data: data, CreatedAt: db.Now()}
	if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&blob).Error; err != nil {
		return "", fmt.Errorf("saving %d bytes: %w", len(data), err)
	}
	return hash, nil
}

// namedFile is one file of a task version or a submission, with its content.
type namedFile struct {
	Name string
	Data []byte
}

func filesByName(rows []namedFile) map[string][]byte {
	files := make(map[string][]byte, len(rows))
	for _, row := range rows {
		if row.Data == nil {
			row.Data = []byte{}
		}
		files[row.Name] = row.Data
	}
	return files
}

// SweepBlobs deletes contents that no version and no submission references.
func SweepBlobs(tx *gorm.DB) error {
	err := tx.Exec(`delete from blobs where
		not exists (select 1 from version_files f where f.hash = blobs.hash) and
		not exists (select 1 from submissions s where s.source_hash = blobs.hash)`).Error
	if err != nil {
		return fmt.Errorf("sweeping contents: %w", err)
	}
	return nil
}
