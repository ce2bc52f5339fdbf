package operation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/migrations"
	"warpboard/models/fleet"
	"warpboard/views"
)

// backupAt is a file in the data directory. Its time is that of the last backup: the operator's commands touch it at their end.
const backupAt = "last-backup"

// backup is when the operator last recorded one, and how to make and record the next.
func (o *Operation) backup(*fiber.Ctx, []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Backup", Link: "/docs/backup", LinkText: "Backup and restore"}
	dir, err := filepath.Abs(o.site.Store.Disk.Dir)
	if err != nil {
		return row, fmt.Errorf("finding the data directory: %w", err)
	}
	path := filepath.Join(dir, backupAt)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		row.State, row.Says, row.Do = views.HealthUnknown, "No backup has been recorded.", "Make a backup on the site's machine:"
	case err != nil:
		row.State, row.Says, row.Do = views.HealthUnknown, "The record of the last backup could not be read.", "Check the rights of "+path+"."
		return row, nil
	default:
		row.Says, row.At = "The last one was recorded", info.ModTime()
		if o.site.Now().Sub(info.ModTime()) <= oldBackup {
			return row, nil
		}
		row.State, row.Do = views.HealthLook, "Make a new one on the site's machine:"
	}
	row.Commands = o.backupCommands(dir)
	row.Then = "The site can serve while they run. The last one records the backup: this page shows the time of that file. Copy the folder to another machine, with the settings and, if they are elsewhere, the artifacts and the signing key."
	return row, nil
}

// backupCommands copy the database first: the site deletes artifacts that the database does not name.
func (o *Operation) backupCommands(dir string) []string {
	list := []string{"mkdir -p -m 700 backup &&"}
	if o.site.Store.Dialect() == migrations.Postgres {
		list = append(list, `pg_dump -Fc "$WARPBOARD_DATABASE_URL" > backup/database.dump &&`)
	} else {
		list = append(list, "sqlite3 "+quoted(filepath.Join(dir, "warpboard.db"))+` ".backup backup/warpboard.db" &&`)
	}
	for _, name := range []string{"artifacts", "signing.key"} { // settings can put them elsewhere
		if path := filepath.Join(dir, name); exists(path) {
			list = append(list, "cp -a "+quoted(path)+" backup/ &&")
		}
	}
	return append(list, "touch "+quoted(filepath.Join(dir, backupAt)))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// quoted is a path for a shell.
func quoted(path string) string {
	if !strings.ContainsAny(path, " \t\n\"'$`\\&;|<>()*?[]#~!{}") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
