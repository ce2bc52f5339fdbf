package api

import "github.com/gofiber/fiber/v2"

// Capacity responds with the slots and the demand of each device, for programs that start machines.
func (a *API) Capacity(c *fiber.Ctx) error {
	list, err := a.runs.Capacity(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"devices": list})
}
