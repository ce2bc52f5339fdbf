package site

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/catalog"
	"warpboard/models/membership"
)

const (
	inviteTryInterval    = 10 * time.Second
	maxInviteTriesAtOnce = 20 // enough to open a link several times, too few to guess a code
)

// PreviewInvite returns the task to which an invite code gives the viewer access. Calls of visitors share one rate
// limit.
func (s *Site) PreviewInvite(c *fiber.Ctx, code string) (membership.InviteOffer, error) {
	if err := s.limitCodeTries(c); err != nil {
		return membership.InviteOffer{}, err
	}
	return s.Store.Members.PreviewJoin(c.UserContext(), Actor(c).ID, code)
}

// JoinTask makes the viewer, who must be signed in, a member of the invite code's task.
func (s *Site) JoinTask(c *fiber.Ctx, code string) (catalog.Task, error) {
	if err := s.limitCodeTries(c); err != nil {
		return catalog.Task{}, err
	}
	return s.Store.Members.Join(c.UserContext(), Actor(c).ID, code)
}

func (s *Site) limitCodeTries(c *fiber.Ctx) error {
	if s.codeTries.Allows(Actor(c).ID, s.Now()) {
		return nil
	}
	return TooMany("Too many invite codes tried. Wait ten seconds.", inviteTryInterval)
}
