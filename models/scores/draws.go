package scores

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/tasks"
)

// Draw is the seed from which the case values of one board and epoch are drawn.
type Draw struct {
	VersionID  int64  `gorm:"primaryKey;autoIncrement:false"`
	Device     string `gorm:"primaryKey"`
	EpochID    int64  `gorm:"primaryKey;autoIncrement:false"`
	HiddenSeed string `gorm:"column:seed"` // secret until the version accepts no more ranked runs
	CreatedAt  time.Time
}

// BeginDraw assigns to an attempt the draw of its board for the worker's software, and returns the seed.
func (s *Scores) BeginDraw(
	ctx context.Context, attemptID string, versionID int64, device string, software epochs.Software,
) (seed []byte, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		epochID, err := epochs.FindOrCreateID(tx, software)
		if err != nil {
			return err
		}
		draw := Draw{
			VersionID:  versionID,
			Device:     device,
			EpochID:    epochID,
			HiddenSeed: db.NewSecret(),
			CreatedAt:  db.Now(),
		}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&draw).Error; err != nil {
			return db.WriteError(err, "draw")
		}
		kept, err := findDraw(tx, versionID, device, epochID)
		if err != nil {
			return err
		}
		seed = []byte(kept.HiddenSeed)
		return db.WriteError(tx.Table("attempts").Where("id = ?", attemptID).Update("draw_epoch_id", epochID).Error, "attempt")
	})
	return seed, err
}

func findDraw(tx *gorm.DB, versionID int64, device string, epochID int64) (draw Draw, err error) {
	err = tx.Where("version_id = ? and device = ? and epoch_id = ?", versionID, device, epochID).Take(&draw).Error
	return draw, db.ReadError(err, "draw of %s", device)
}

// AttemptSeed returns the seed of an attempt, or nil if it has none. It also reports whether the attempt was measured
// with the software for which the seed was drawn.
func (s *Scores) AttemptSeed(
	ctx context.Context, attemptID string, measured epochs.Software,
) (seed []byte, same bool, err error) {
	var row struct {
		Draw
		epochs.Software `gorm:"embedded"`
	}
	res := s.db.Read(ctx).Table("attempts a").Select("d.*, e.driver, e.cuda, e.compiler, e.torch, e.triton, e.harness").
		Joins("join runs r on r.id = a.run_id").
		Joins("join draws d on d.version_id = r.version_id and d.device = r.device and d.epoch_id = a.draw_epoch_id").
		Joins("left join epochs e on e.id = d.epoch_id").Where("a.id = ?", attemptID).Limit(1).Find(&row)
	if res.Error != nil || res.RowsAffected == 0 {
		return nil, false, db.ReadError(res.Error, "draw of attempt %s", attemptID)
	}
	return []byte(row.HiddenSeed), row.Software == measured.WithSanitizedTexts(), nil
}

// PublicDraw is a draw without secret values.
type PublicDraw struct {
	Version  int
	Device   string
	Software epochs.Software
	Since    time.Time
	// Cases has the drawn values; nil while they are secret.
	Cases *tasks.Definition
}

// maxListedDraws limits the listed draws of a task, because listing computes their values.
const maxListedDraws = 20

// NewestDraws lists the newest draws of a task.
func (s *Scores) NewestDraws(ctx context.Context, task catalog.Task, now time.Time) (list []PublicDraw, err error) {
	var rows []struct {
		Draw
		epochs.Software `gorm:"embedded"`
		Number          int
		Definition      tasks.Definition `gorm:"serializer:json"`
	}
	err = s.db.Read(ctx).Table("draws d").
		Select("d.*, e.driver, e.cuda, e.compiler, e.torch, e.triton, e.harness, v.number, v.definition").
		Joins("join task_versions v on v.id = d.version_id").Joins("left join epochs e on e.id = d.epoch_id").
		Where("v.task_id = ?", task.ID).Order("v.number desc, d.device, d.epoch_id desc").Limit(maxListedDraws).Find(&rows).Error
	for _, row := range rows {
		shown := PublicDraw{Version: row.Number, Device: row.Device, Software: row.Software, Since: row.CreatedAt}
		if row.VersionID != task.VersionID || !task.AcceptsSubmissions(now) {
			drawn := row.Definition.ForDevice(row.Device).DrawValues([]byte(row.HiddenSeed))
			shown.Cases = &drawn
		}
		list = append(list, shown)
	}
	return list, db.ReadError(err, "draws of task %s", task.Slug)
}
