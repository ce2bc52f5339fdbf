package share

import (
	"fmt"
	"sync"

	"github.com/gofiber/fiber/v2"

	"warpboard/internal/cache"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/work"
	"warpboard/views/format"
)

const pngType = "image/png"

// mostCards bounds the pictures that are kept; drawing one takes some ten milliseconds.
const mostCards = 64

// cards keeps the last pictures that were drawn, by what is on them.
type cards struct {
	mu   sync.Mutex // while one is drawn
	kept *cache.Cache[string, []byte]
}

// draw returns the picture of a card. One is drawn at a time: many who ask at once cost one processor.
func (k *cards) draw(one card) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprintf("%+v", one)
	if data, ok := k.kept.Get(key); ok {
		return data, nil
	}
	data, err := one.png()
	if err != nil {
		return nil, err
	}
	k.kept.Put(key, data, 1)
	return data, nil
}

// SiteCard is the picture of a link to a page that has none of its own.
func (s *Share) SiteCard(c *fiber.Ctx) error {
	return s.send(c, pngType, "site", func() ([]byte, error) {
		return s.cards.draw(card{On: "Leaderboards for", Big: "GPU kernels", Small: "Submit, watch the run live, compare."})
	})
}

// BoardCard is the picture that a link to a board has elsewhere: its first three and how everyone stands.
func (s *Share) BoardCard(c *fiber.Ctx) error {
	b, err := s.boardOf(c)
	if err != nil {
		return err
	}
	return s.send(c, pngType, fmt.Sprint(b.head.Change, b.task.Title), func() ([]byte, error) {
		one := card{Title: b.task.Title, On: "on " + b.head.Device, Big: "No entry yet"}
		bands, err := s.site.Store.Boards.Bands(c.UserContext(), b.head.VersionID, b.head.Device)
		if err != nil {
			return nil, err
		}
		for _, band := range bands[:min(len(bands), mostDots)] {
			one.Dots = append(one.Dots, band.ScoreNS)
		}
		if len(b.head.Leaders) > 0 {
			first := b.head.Leaders[0]
			user, err := s.site.Store.Accounts.User(c.UserContext(), first.UserID)
			if err != nil {
				return nil, err
			}
			one.Big, one.Small = format.Nanoseconds(first.ScoreNS).String(), fmt.Sprintf("%s leads %s", user.Name, format.Plural(int(b.head.Size), "person", "people"))
		}
		return s.cards.draw(one)
	})
}

// RunCard is the picture of a link to a run: its score, its person and its place.
func (s *Share) RunCard(c *fiber.Ctx) error {
	run, task, err := s.runOf(c)
	if err != nil {
		return err
	}
	st, err := s.standing(c, run)
	if err != nil {
		return err
	}
	user, err := s.site.Store.Accounts.User(c.UserContext(), run.UserID)
	if err != nil {
		return err
	}
	one := runCard(run, task, user, st)
	return s.send(c, pngType, fmt.Sprintf("%+v", one), func() ([]byte, error) { return s.cards.draw(one) })
}

func runCard(run work.Run, task catalog.Task, user accounts.User, st *boards.Standing) card {
	one := card{Title: task.Title, On: "on " + run.Device, Big: "No score", Small: "Run by " + user.Name}
	if run.Valid() {
		one.Big = format.MaybeNanoseconds(run.ScoreNS).String()
	}
	if st != nil {
		one.Small = fmt.Sprintf("%s, place %s on the board", user.Name, format.Place(st.Rank, st.Tied))
		one.Dots = []float64{st.FirstNS, st.ScoreNS}
	}
	return one
}
