package switches

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// The names of what can be off, beside Task's.
const (
	Submissions = "submissions"
	Evaluations = "evaluations"
)

// Task is the name of one task's switch.
func Task(id int64) string { return "task." + strconv.FormatInt(id, 10) }

// keyPrefix begins the settings that hold what is off.
const keyPrefix = "off."

// longestWhy keeps the sentence one.
const longestWhy = 300

// Switches is what is off of one database.
type Switches struct{ db *db.DB }

// New returns the switches of a database.
func New(database *db.DB) *Switches { return &Switches{db: database} }

// Off is one thing that is off.
type Off struct {
	What  string    `json:"-"`
	Why   string    `json:"why"`
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// SwitchOff keeps something off until SwitchOn. Admins only.
func (s *Switches) SwitchOff(ctx context.Context, actor accounts.User, what, why string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	if !isSwitch(what) {
		return db.Errorf(db.Invalid, "There is no switch %.40q.", what)
	}
	why = strings.TrimSpace(db.Sanitize(why))
	if why == "" || len(why) > longestWhy {
		return db.Errorf(db.Invalid, "Give a reason of up to %d characters: people whose work is refused read it.", longestWhy)
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := db.PutJSON(tx, keyPrefix+what, Off{Why: why, By: actor.Name, Since: db.Now()}); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch off", what, why)
	})
}

func isSwitch(what string) bool {
	id, isTask := strings.CutPrefix(what, "task.")
	_, err := strconv.ParseInt(id, 10, 64)
	return what == Submissions || what == Evaluations || isTask && err == nil
}

// SwitchOn ends that. Admins only.
func (s *Switches) SwitchOn(ctx context.Context, actor accounts.User, what string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if was, err := db.DeleteSetting(tx, keyPrefix+what); err != nil || !was {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch on", what, "")
	})
}

// SwitchedOff lists what is off.
func (s *Switches) SwitchedOff(ctx context.Context) ([]Off, error) {
	return read(s.db.Read(ctx).Where("key like ?", keyPrefix+"%"))
}

// Check refuses if one of these is off, with the admin's sentence.
func Check(tx *gorm.DB, sentence string, names ...string) error {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = keyPrefix + name
	}
	off, err := read(tx.Where("key in ?", keys))
	if err != nil || len(off) == 0 {
		return err
	}
	return db.Errorf(db.Forbidden, "%s %s", sentence, off[0].Why)
}

func read(q *gorm.DB) ([]Off, error) {
	found, err := db.JSONSettings[Off](q, keyPrefix)
	var list []Off
	for _, what := range slices.Sorted(maps.Keys(found)) {
		off := found[what]
		off.What = what
		list = append(list, off)
	}
	return list, err
}
