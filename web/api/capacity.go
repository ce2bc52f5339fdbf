package api

import "github.com/gofiber/fiber/v2"

// Capacity answers with what there is and what is wanted of each device, for anyone who starts machines.
func (a *API) Capacity(c *fiber.Ctx) error {
	list, err := a.runs.Capacity(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"devices": list})
}
