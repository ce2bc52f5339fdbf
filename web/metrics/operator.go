package metrics

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/web/conns"
	"warpboard/web/site"
)

// RequireOperator admits the operator's programs (a scraper at an allowed address or with the operator's token) and
// admins. The metrics reveal who works on what.
func (m *Metrics) RequireOperator(c *fiber.Ctx) error {
	if m.isFromOperator(c) || m.hasMetricsToken(c) {
		return c.Next()
	}
	if err := m.site.RecognizeSender(c); err != nil {
		return err
	}
	switch user := site.Viewer(c); {
	case user == nil:
		return site.Unauthorized("This is for the operator of the site: send the --metrics-token as Authorization: Bearer TOKEN, or ask from an address in --metrics-from.")
	case !user.IsAdmin():
		return site.Forbidden("operator", "This is for admins and the operator of the site.")
	}
	return c.Next()
}

// isFromOperator reports whether the request comes directly from an allowed address. By default this is a loopback
// address, unless the base URL names another host: then a proxy may forward requests without adding headers.
func (m *Metrics) isFromOperator(c *fiber.Ctx) bool {
	if m.access.Networks == nil {
		return conns.IsLoopback(m.site.Base.Host) && conns.IsFromThisMachine(c)
	}
	address := conns.PeerAddress(c)
	if !address.IsValid() || conns.HasProxyHeader(c) {
		return false
	}
	for _, network := range m.access.Networks {
		if network.Contains(address) {
			// a loopback address with another Host header would be DNS rebinding
			return !address.IsLoopback() || conns.IsLoopback(string(c.Request().Host()))
		}
	}
	return false
}

func (m *Metrics) hasMetricsToken(c *fiber.Ctx) bool {
	secret, ok := site.BearerToken(c)
	return ok && m.access.Token != "" && site.EqualSecrets(secret, m.access.Token)
}
