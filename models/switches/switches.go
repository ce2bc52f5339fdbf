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
	SubmissionsSwitch = "submissions"
	EvaluationsSwitch = "evaluations"
)

// TaskSwitchName returns the name of a task's switch.
func TaskSwitchName(id int64) string { return "task." + strconv.FormatInt(id, 10) }

// SettingPrefix is the prefix of the settings that store what is off. The name of the switch follows.
const SettingPrefix = "off."

// maxReasonLength limits the reason, in characters.
const maxReasonLength = 300

// Switches turns parts of the site off and on, in one database.
type Switches struct{ db *db.DB }

// New returns the switches in a database.
func New(database *db.DB) *Switches { return &Switches{db: database} }

// OffPart is a part of the site that is off.
type OffPart struct {
	PartName string    `json:"-"`
	Reason   string    `json:"why"`
	OffBy    string    `json:"by"`
	Since    time.Time `json:"since"`
}

// Sentence returns a sentence with the reason for people.
func (o OffPart) Sentence() string {
	switch o.PartName {
	case SubmissionsSwitch:
		return "The site accepts no submissions for now. " + o.Reason
	case EvaluationsSwitch:
		return "The site accepts no evaluations for now. " + o.Reason
	}
	return "This task accepts no submissions for now. " + o.Reason
}

// FirstOffSentence returns the sentence for the first of these names that is off, or "".
func FirstOffSentence(off []OffPart, names ...string) string {
	for _, name := range names {
		if i := slices.IndexFunc(off, func(o OffPart) bool { return o.PartName == name }); i >= 0 {
			return off[i].Sentence()
		}
	}
	return ""
}

// ParseSetting parses a setting, for callers that read settings with other rows.
func ParseSetting(key, value string) (off OffPart, err error) {
	if err = json.Unmarshal([]byte(value), &off); err != nil {
		err = fmt.Errorf("reading setting %s: %w", key, err)
	}
	off.PartName = strings.TrimPrefix(key, SettingPrefix)
	return off, err
}

// TurnOff switches a part of the site off until TurnOn. Only admins may call it.
func (s *Switches) TurnOff(ctx context.Context, actor accounts.User, what, why string) error {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return err
	}
	if !isSwitchName(what) {
		return db.Errorf(db.Invalid, "There is no switch %.40q.", what)
	}
	why = strings.TrimSpace(db.SanitizeText(why))
	if why == "" || len(why) > maxReasonLength {
		return db.Errorf(db.Invalid, "Give a reason of up to %d characters: people whose work is refused read it.", maxReasonLength)
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := db.PutJSONSetting(tx, SettingPrefix+what,
			OffPart{Reason: why, OffBy: actor.Name, Since: db.Now()}); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch off", what, why)
	})
}

func isSwitchName(what string) bool {
	id, isTask := strings.CutPrefix(what, "task.")
	_, err := strconv.ParseInt(id, 10, 64)
	return what == SubmissionsSwitch || what == EvaluationsSwitch || isTask && err == nil
}

// TurnOn switches a part of the site on again. Only admins may call it.
func (s *Switches) TurnOn(ctx context.Context, actor accounts.User, what string) error {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if was, err := db.DeleteSetting(tx, SettingPrefix+what); err != nil || !was {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch on", what, "")
	})
}

// OffParts lists the parts that are off.
func (s *Switches) OffParts(ctx context.Context) ([]OffPart, error) {
	return readOffParts(s.db.Read(ctx).Where("key like ?", SettingPrefix+"%"))
}

// FirstOffSentence returns the sentence for the first of these names that is off, or "".
func (s *Switches) FirstOffSentence(ctx context.Context, names ...string) (string, error) {
	return readFirstOffSentence(s.db.Read(ctx), names)
}

// CheckOn returns an error with the admin's reason if one of the named parts is off.
func CheckOn(tx *gorm.DB, names ...string) error {
	why, err := readFirstOffSentence(tx, names)
	if err == nil && why != "" {
		err = db.Errorf(db.Forbidden, "%s", why)
	}
	return err
}

func readFirstOffSentence(q *gorm.DB, names []string) (string, error) {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = SettingPrefix + name
	}
	off, err := readOffParts(q.Where("key in ?", keys))
	return FirstOffSentence(off, names...), err
}

func readOffParts(q *gorm.DB) ([]OffPart, error) {
	found, err := db.ReadJSONSettings[OffPart](q, SettingPrefix)
	var list []OffPart
	for _, what := range slices.Sorted(maps.Keys(found)) {
		off := found[what]
		off.PartName = what
		list = append(list, off)
	}
	return list, err
}
