package web

import (
	"io"
	"net"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

const (
	bridgeBuffer = 32 << 10 // what goes to a worker in one WebSocket message
	lastWords    = 2 * time.Second
)

// workerConnection connects a remote worker to the embedded NATS server over the site's own port. Messages in both directions
// are pieces of the NATS protocol's byte stream. NATS asks for the worker's credential and closes connections that send none.
func (s *Server) workerConnection(c *fiber.Ctx) error {
	switch {
	case !websocket.FastHTTPIsWebSocketUpgrade(c.Context()):
		c.Set(fiber.HeaderUpgrade, "websocket")
		return &site.Failure{Status: fiber.StatusUpgradeRequired, Code: "workers_only",
			Message: "Workers connect here: warpboard work --site " + s.site.Settings.BaseURL + "."}
	case s.ownCluster:
		return &site.Failure{Status: fiber.StatusNotFound, Code: "own_cluster",
			Message: "The workers of this site connect to its NATS cluster: warpboard work --nats-url ADDRESS."}
	case c.Get(fiber.HeaderOrigin) != "":
		return site.Forbidden("workers_only", "Workers connect here, not browsers.")
	}
	if err := s.site.HoldStream(c); err != nil {
		return err
	}
	conn, err := s.queue.WorkerConn()
	if err != nil {
		return site.Busy("The site is starting or stopping. Try again in a moment.")
	}
	patience, upgrader := s.site.Settings.Limits.Answer, websocket.FastHTTPUpgrader{ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10}
	if err := upgrader.Upgrade(c.Context(), func(ws *websocket.Conn) { bridge(ws, conn, patience) }); err != nil {
		conn.Close()
		return &site.Failure{Status: fiber.StatusBadRequest, Code: "handshake", Message: "This is not a WebSocket handshake: " + err.Error() + "."}
	}
	return nil
}

// bridge copies in both directions until one side ends. The NATS server pings its clients, so a side that is gone is noticed.
func bridge(ws *websocket.Conn, conn net.Conn, patience time.Duration) {
	defer ws.Close()
	defer conn.Close()
	go func() {
		toWorker(ws, conn, patience)
		conn.Close()
		// The reader below throws away for a moment what still comes: closing with unread bytes would reset the connection under
		// the reason that NATS gave.
		ws.SetReadDeadline(time.Now().Add(lastWords))
	}()
	for {
		_, message, err := ws.NextReader()
		if err != nil {
			return
		}
		io.Copy(conn, message) // its error is the other direction's end
	}
}

// toWorker copies what NATS says until that ends or the worker takes nothing any more.
func toWorker(ws *websocket.Conn, conn net.Conn, patience time.Duration) {
	buffer := make([]byte, bridgeBuffer)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		ws.SetWriteDeadline(time.Now().Add(patience))
		if ws.WriteMessage(websocket.BinaryMessage, buffer[:n]) != nil {
			return
		}
	}
}
