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
	bridgeBufferBytes = 32 << 10 // size of a buffer, and so of a WebSocket message to a worker, in bytes
	closeReadTimeout  = 2 * time.Second
)

// workerConnection connects a remote worker to the embedded NATS server over the site's own port. Messages in both
// directions are pieces of the NATS protocol's byte stream. NATS asks for the worker's credential and closes
// connections that send none.
func (s *Server) workerConnection(c *fiber.Ctx) error {
	switch {
	case !websocket.FastHTTPIsWebSocketUpgrade(c.Context()):
		c.Set(fiber.HeaderUpgrade, "websocket")
		return &site.Failure{Status: fiber.StatusUpgradeRequired, Code: "workers_only",
			Message: "Workers connect here: warpboard work --site " + s.site.Settings.BaseURL + "."}
	case s.usesOwnNATSCluster:
		return &site.Failure{Status: fiber.StatusNotFound, Code: "own_cluster",
			Message: "The workers of this site connect to its NATS cluster: warpboard work --nats-url ADDRESS."}
	case c.Get(fiber.HeaderOrigin) != "":
		return site.Forbidden("workers_only", "Workers connect here, not browsers.")
	}
	if err := s.site.CountWorker(c); err != nil {
		return err
	}
	upgrader := websocket.FastHTTPUpgrader{ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10}
	if err := upgrader.Upgrade(c.Context(), s.serveWorker); err != nil {
		c.Context().SetConnectionClose() // otherwise the connection stays counted, and its next request counts again
		return &site.Failure{
			Status:  fiber.StatusBadRequest,
			Code:    "handshake",
			Message: "This is not a WebSocket handshake: " + err.Error() + ".",
		}
	}
	return nil
}

// serveWorker serves a worker's connection until it ends. It opens the connection to NATS only here, because an upgrade
// request may fail before.
func (s *Server) serveWorker(ws *websocket.Conn) {
	defer ws.Close()
	conn, err := s.queue.NewWorkerConn()
	if err != nil { // the site is starting or stopping; the worker will try again
		s.site.Log.Debug("a worker cannot connect now", "err", err)
		return
	}
	bridgeConnections(ws, conn, s.site.Settings.Limits.AnswerTime)
}

// bridgeConnections copies in both directions until one side ends. The NATS server pings its clients, so it notices a
// side that is gone.
func bridgeConnections(ws *websocket.Conn, conn net.Conn, patience time.Duration) {
	defer ws.Close()
	defer conn.Close()
	go func() {
		copyToWorker(ws, conn, patience)
		conn.Close()
		// The loop below discards incoming data for a moment: closing with unread bytes would reset the connection
		// before the client has read NATS's reason.
		ws.SetReadDeadline(time.Now().Add(closeReadTimeout))
	}()
	// One buffer serves all messages, because anyone can send a million empty ones per second.
	buffer := make([]byte, bridgeBufferBytes)
	for {
		_, message, err := ws.NextReader()
		if err != nil {
			return
		}
		io.CopyBuffer(conn, message, buffer) // an error means that the other direction has ended
	}
}

// copyToWorker copies NATS's messages until NATS closes or the worker stops reading.
func copyToWorker(ws *websocket.Conn, conn net.Conn, patience time.Duration) {
	buffer := make([]byte, bridgeBufferBytes)
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
