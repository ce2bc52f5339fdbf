package signin

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

// Picture sends somebody's picture. Its address holds its digest, so browsers keep it; proxies do not, which would still
// send it when its person has removed it.
func (s *SignIn) Picture(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	data, err := s.site.Store.Accounts.Picture(c.UserContext(), id, c.Params("digest"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "private, max-age=31536000, immutable")
	c.Set(fiber.HeaderContentType, "image/jpeg")
	return c.Send(data)
}

// PictureChoose lets a person have the provider's picture or the one made from the account's number.
func (s *SignIn) PictureChoose(c *fiber.Ctx) error {
	user, err := site.RequireUser(c)
	if err != nil {
		return err
	}
	made := c.FormValue("picture") != "provider"
	if err := s.site.Store.Accounts.SetPictureOff(c.UserContext(), *user, user.ID, made); err != nil {
		return err
	}
	if made {
		return c.Redirect("/me?done=picture-removed", fiber.StatusSeeOther)
	}
	s.pictures.Want(user.ID)
	return c.Redirect("/me?done=picture-wanted", fiber.StatusSeeOther)
}

// PictureRemove lets an admin remove somebody's.
func (s *SignIn) PictureRemove(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	if err := s.site.Store.Accounts.SetPictureOff(c.UserContext(), site.Actor(c), id, true); err != nil {
		return err
	}
	return site.Redirect(c, views.UserURL(id)+"?done=saved")
}
