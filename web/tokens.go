package web

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

// tokenCreate makes a personal token and shows its secret this one time.
func (s *Server) tokenCreate(c *fiber.Ctx) error {
	user, err := requireUser(c)
	if err != nil {
		return err
	}
	days, err := strconv.Atoi(c.FormValue("days", "0"))
	if err != nil || days < 0 || days > 3650 {
		return invalid("days", "A token lives between 1 and 3650 days; 0 is for ever.")
	}
	secret, token, err := s.store.CreateToken(c.UserContext(), user.ID, c.FormValue("name"), time.Duration(days)*24*time.Hour)
	if err != nil {
		return err
	}
	return s.showToken(c, token, secret)
}

func (s *Server) tokenRevoke(c *fiber.Ctx) error {
	return removeOwn(c, s.store.RevokeToken, "/me")
}
