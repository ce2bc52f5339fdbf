package switches

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Names of the parts of the site that can be switched off, besides tasks.
const (
	Submissions = "submissions"
	Evaluations = "evaluations"
)

// Task returns the name of a task's switch.
func Task(id int64) string { return "task." + strconv.FormatInt(id, 10) }

// Prefix is the prefix of the settings that store what is off. The name of the switch follows.
const Prefix = "off."

// maxReasonLength limits the reason, in characters.
const maxReasonLength = 300

// Switches turns parts of the site off and on, in one database.
type Switches struct{ db *db.DB }

// New returns the switches in a database.
func New(database *db.DB) *Switches { return &Switches{db: database} }

// Switch is a part of the site that is off.
type Switch struct {
	What  string    `json:"-"`
	Why   string    `json:"why"`
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// Sentence returns a sentence with the reason for people.
func (o Switch) Sentence() string {
	switch o.What {
	case Submissions:
		return "The site accepts no submissions for now. " + o.Why
	case Evaluations:
		return "The site accepts no evaluations for now. " + o.Why
	}
	return "This task accepts no submissions for now. " + o.Why
}

// FirstSentence returns the sentence for the first of these names that is off, or "".
func FirstSentence(off []Switch, names ...string) string {
	for _, name := range names {
		if i := slices.IndexFunc(off, func(o Switch) bool { return o.What == name }); i >= 0 {
			return off[i].Sentence()
		}
	}
	return ""
}

// Parse parses a setting, for callers that read settings with other rows.
func Parse(key, value string) (off Switch, err error) {
	if err = json.Unmarshal([]byte(value), &off); err != nil {
		err = fmt.Errorf("reading setting %s: %w", key, err)
	}
	off.What = strings.TrimPrefix(key, Prefix)
	return off, err
}

// TurnOff switches a part of the site off until TurnOn. Only admins may call it.
func (s *Switches) TurnOff(ctx context.Context, actor accounts.User, what, why string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.ObjectOwners{}); err != nil {
		return err
	}
	if !isSwitch(what) {
		return db.Errorf(db.Invalid, "There is no switch %.40q.", what)
	}
	why = strings.TrimSpace(db.Sanitize(why))
	if why == "" || len(why) > maxReasonLength {
		return db.Errorf(db.Invalid, "Give a reason of up to %d characters: people whose work is refused read it.", maxReasonLength)
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := db.PutJSON(tx, Prefix+what, Switch{Why: why, By: actor.Name, Since: db.Now()}); err != nil {
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

// TurnOn switches a part of the site on again. Only admins may call it.
func (s *Switches) TurnOn(ctx context.Context, actor accounts.User, what string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.ObjectOwners{}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if was, err := db.DeleteSetting(tx, Prefix+what); err != nil || !was {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch on", what, "")
	})
}

// AllOff lists the parts that are off.
func (s *Switches) AllOff(ctx context.Context) ([]Switch, error) {
	return readSwitches(s.db.Read(ctx).Where("key like ?", Prefix+"%"))
}

// FirstSentence returns the sentence for the first of these names that is off, or "".
func (s *Switches) FirstSentence(ctx context.Context, names ...string) (string, error) {
	return firstSentence(s.db.Read(ctx), names)
}

// Check returns an error with the admin's reason if one of the named parts is off.
func Check(tx *gorm.DB, names ...string) error {
	why, err := firstSentence(tx, names)
	if err == nil && why != "" {
		err = db.Errorf(db.Forbidden, "%s", why)
	}
	return err
}

func firstSentence(q *gorm.DB, names []string) (string, error) {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = Prefix + name
	}
	off, err := readSwitches(q.Where("key in ?", keys))
	return FirstSentence(off, names...), err
}

func readSwitches(q *gorm.DB) ([]Switch, error) {
	found, err := db.JSONSettings[Switch](q, Prefix)
	var list []Switch
	for _, what := range slices.Sorted(maps.Keys(found)) {
		off := found[what]
		off.What = what
		list = append(list, off)
	}
	return list, err
}
