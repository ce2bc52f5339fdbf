package site

import "github.com/gofiber/fiber/v2"

// ByEnergy reports whether an address asks for a board's second order.
func ByEnergy(c *fiber.Ctx) (bool, error) {
	switch order := c.Query("order"); order {
	case "", "score":
		return false, nil
	case "energy":
		return true, nil
	default:
		return false, Invalid("order", "There is no order %q: write energy, or score.", order)
	}
}
