package epochs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/db"
)

// Epochs reads and stores the epochs of one database.
type Epochs struct{ db *db.DB }

// New returns the epochs of a database.
func New(database *db.DB) *Epochs { return &Epochs{db: database} }

// Epoch is the software with which measurements were made.
type Epoch struct {
	ID          int64 // larger for later ones; 0 if not recorded
	Software    `gorm:"embedded"`
	FirstSeenAt time.Time `gorm:"column:seen_at"` // time at which a worker first reported the software
}

// Software has the components of an epoch, each with its version text. A component that a run does not use is empty.
type Software struct {
	Driver, CUDA, Compiler, Torch, Triton string
	Harness                               string // a hash of the judge's and the runner's programs
}

// String lists the components that are not empty.
func (s Software) String() string {
	words := []string{}
	for _, part := range [][2]string{{"driver", s.Driver}, {"CUDA", s.CUDA}, {"", s.Compiler}, {"torch", s.Torch}, {"Triton", s.Triton}, {"harness", s.Harness}} {
		if part[1] != "" {
			words = append(words, strings.TrimSpace(part[0]+" "+part[1]))
		}
	}
	return strings.Join(words, ", ")
}

// ChangedComponents lists the components that differ in to, such as "driver 570 → 580".
func (s Software) ChangedComponents(to Software) (list []string) {
	for _, part := range [][3]string{{"driver", s.Driver, to.Driver}, {"CUDA", s.CUDA, to.CUDA}, {"compiler", s.Compiler, to.Compiler},
		{"torch", s.Torch, to.Torch}, {"Triton", s.Triton, to.Triton}, {"harness", s.Harness, to.Harness}} {
		if part[1] != part[2] {
			list = append(list, fmt.Sprintf("%s %s → %s", part[0], shownVersion(part[1]), shownVersion(part[2])))
		}
	}
	return list
}

func shownVersion(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

// WithSanitizedTexts returns the software with texts that are valid in the database.
func (s Software) WithSanitizedTexts() Software {
	for _, text := range []*string{&s.Driver, &s.CUDA, &s.Compiler, &s.Torch, &s.Triton, &s.Harness} {
		*text = db.CutText(db.SanitizeText(*text), 200)
	}
	return s
}

// FindOrCreateID returns the ID of the epoch with software s, and creates the epoch if needed. It returns 0 for the
// zero Software.
func FindOrCreateID(tx *gorm.DB, s Software) (int64, error) {
	s = s.WithSanitizedTexts()
	if s == (Software{}) {
		return 0, nil
	}
	var e Epoch
	same := map[string]any{"driver": s.Driver, "cuda": s.CUDA, "compiler": s.Compiler, "torch": s.Torch, "triton": s.Triton, "harness": s.Harness}
	res := tx.Where(same).Limit(1).Find(&e)
	if res.Error != nil || res.RowsAffected > 0 {
		return e.ID, db.ReadError(res.Error, "epochs")
	}
	e = Epoch{Software: s, FirstSeenAt: db.Now()}
	err := tx.Create(&e).Error
	return e.ID, db.WriteError(err, "epoch")
}

// SoftwareKind selects the components of a device's software that a task uses. All scores on a board have the same
// kind.
type SoftwareKind string

// Kinds of software.
const (
	NativeSoftware SoftwareKind = "native" // tasks in C++ and CUDA use a compiler, without torch and Triton
	// PythonSoftware: tasks in Python use torch, Triton, and on a GPU the compiler that they may call
	PythonSoftware SoftwareKind = "python"
)

// DeviceEpoch is an epoch that a device has or had.
type DeviceEpoch struct {
	Device      string       `gorm:"primaryKey"`
	Kind        SoftwareKind `gorm:"primaryKey"`
	EpochID     int64        `gorm:"primaryKey;autoIncrement:false"`
	FirstSeenAt time.Time    `gorm:"column:seen_at"`
}

// RecordSoftware stores that a device has software of a kind, and reports whether that software is new on the device.
func RecordSoftware(tx *gorm.DB, device string, kind SoftwareKind, s Software) (epochID int64, fresh bool, err error) {
	id, err := FindOrCreateID(tx, s)
	if err != nil || id == 0 {
		return 0, false, err
	}
	row := DeviceEpoch{Device: device, Kind: kind, EpochID: id, FirstSeenAt: db.Now()}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return id, res.RowsAffected > 0, db.WriteError(res.Error, "epoch of %s", device)
}

// NewestFirstSeen returns the time at which a device's newest software was first seen, or the zero time.
func NewestFirstSeen(tx *gorm.DB, device string) (time.Time, error) {
	var newest DeviceEpoch
	err := tx.Where("device = ?", device).Order("seen_at desc").Limit(1).Find(&newest).Error
	return newest.FirstSeenAt, db.ReadError(err, "epochs of %s", device)
}

// OfDevice lists the epochs of a device with their software, newest first.
func (s *Epochs) OfDevice(ctx context.Context, device string) (list []EpochPeriod, err error) {
	err = s.db.Read(ctx).Table("device_epochs d").Select("d.kind, d.seen_at as since, e.*").Joins("join epochs e on e.id = d.epoch_id").
		Where("d.device = ?", device).Order("d.epoch_id desc, d.kind").Scan(&list).Error
	return list, db.ReadError(err, "epochs of %s", device)
}

// EpochPeriod is a period in which a device's workers reported the same software, with that software.
type EpochPeriod struct {
	SoftwareKind SoftwareKind `gorm:"column:kind"`
	SeenSince    time.Time    `gorm:"column:since"`
	Epoch
}

// TableName returns the table of epochs.
func (Epoch) TableName() string { return "epochs" }

// TableName returns the table of the epochs of devices.
func (DeviceEpoch) TableName() string { return "device_epochs" }
