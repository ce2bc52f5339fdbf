package web

import (
	"fmt"
	"net/netip"

	"github.com/gofiber/fiber/v2"
)

// ParseAddresses reads addresses and networks, like 10.0.0.7 and 10.0.0.0/8, for Config.MetricsFrom.
func ParseAddresses(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if address, notNetwork := netip.ParseAddr(text); notNetwork == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q: want an address or a network, like 10.0.0.7 or 10.0.0.0/8", text)
		}
		list = append(list, network)
	}
	return list, nil
}

// operatorOnly lets through what the operator runs: a scraper at an allowed address or with the operator's token,
// and admins. What the site measures tells who is busy and with what.
func (m *Metrics) operatorOnly(c *fiber.Ctx) error {
	if m.fromOperator(c) || m.hasMetricsToken(c) {
		return c.Next()
	}
	if err := m.recognise(c); err != nil {
		return err
	}
	switch user := viewer(c); {
	case user == nil:
		return unauthorized("This is for the operator of the site: send the --metrics-token as Authorization: Bearer TOKEN, or ask from an address in --metrics-from.")
	case !user.IsAdmin():
		return forbidden("operator", "This is for admins and the operator of the site.")
	}
	return c.Next()
}

// fromOperator tells whether the request comes straight from an allowed address: by itself this machine's, unless
// a base URL elsewhere means a proxy, which may leave no mark on what it passes on.
func (m *Metrics) fromOperator(c *fiber.Ctx) bool {
	if m.access.From == nil {
		return isLoopback(m.base.Host) && fromThisMachine(c)
	}
	address, ok := netip.AddrFromSlice(c.Context().RemoteIP())
	if !ok || hasProxyMark(c) {
		return false
	}
	address = address.Unmap()
	for _, network := range m.access.From {
		if network.Contains(address) {
			return !address.IsLoopback() || isLoopback(string(c.Request().Host())) // else DNS rebinding
		}
	}
	return false
}

func (m *Metrics) hasMetricsToken(c *fiber.Ctx) bool {
	secret, ok := bearerToken(c)
	return ok && m.access.Token != "" && sameText(secret, m.access.Token)
}
