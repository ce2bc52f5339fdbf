package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/web/conns"
	"warpboard/web/mcp"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// mcpHandler serves the MCP protocol without sessions: each request carries its own token. Responses are streams, so
// that a long call can report progress.
func (s *Server) mcpHandler() fiber.Handler {
	schemas := mcp.NewSchemas()
	handler := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		return mcp.New(s.internalClient(r), s.site.Settings.Version, mcp.Options{
			ClientGone: r.Context(),
			MaxWait:    s.site.Settings.Limits.FirstByteDelay,
			Schemas:    schemas,
		})
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, Logger: s.site.Log, MaxRequestBodyBytes: int64(s.evaluations.EvalLimits.MaxBodyBytes),
	})
	serve := fasthttpadaptor.NewFastHTTPHandler(s.withCallerContext(handler))
	return func(c *fiber.Ctx) error {
		body := c.Request().Body() // not c.Body(), which copies the body
		if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
			return c.Status(fiber.StatusBadRequest).JSON(refusedMessageBody(batchesRefusal))
		}
		if job.ExceedsValueCount(body, evaluations.MaxRequestValues) {
			return c.Status(fiber.StatusBadRequest).JSON(refusedMessageBody(fmt.Sprintf("a message has at most %d values.", evaluations.MaxRequestValues)))
		}
		if !mcp.HasAcceptableSize(body) {
			return c.Status(fiber.StatusBadRequest).JSON(refusedMessageBody(fmt.Sprintf("beside sources, files, contracts and requests a message has at most %d bytes.", mcp.MaxBytesOutsideSources)))
		}
		if broken := site.FindInvalidText(body); broken != nil {
			return c.Status(fiber.StatusBadRequest).JSON(refusedMessageBody(fmt.Sprintf("the text of %.80q is not UTF-8 on line %d.", strings.Join(broken.Path, "."), broken.Line)))
		}
		serve(c.Context())
		return nil
	}
}

// batchesRefusal is the error for a JSON-RPC batch. MCP has no batches since its version 2025-06-18, and the site's
// limits count each HTTP request as one call.
const batchesRefusal = "batches are not supported; send each message in a request of its own."

func refusedMessageBody(why string) fiber.Map {
	return fiber.Map{"jsonrpc": "2.0", "id": nil, "error": fiber.Map{"code": -32600, "message": "Invalid Request: " + why}}
}

// withCallerContext adds a context that ends when the caller disconnects or the site stops. The context of fiber's
// adaptor never ends.
func (s *Server) withCallerContext(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, leave := context.WithCancel(s.site.StreamContext)
		defer leave()
		request, ok := r.Context().(*fasthttp.RequestCtx)
		if !ok {
			http.Error(w, "not a request of this server", http.StatusInternalServerError)
			return
		}
		defer conns.OnDisconnect(request.Conn(), leave)()
		handler.ServeHTTP(deadlineWriter{w, request.Conn()}, r.WithContext(ctx))
	})
}

// deadlineWriter sets a new deadline for each write of a response, instead of one deadline for the whole.
type deadlineWriter struct {
	http.ResponseWriter
	conn net.Conn
}

// Write sends p with a new deadline.
func (w deadlineWriter) Write(p []byte) (int, error) {
	w.conn.SetWriteDeadline(time.Now().Add(conns.WriteTimeout))
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher for http.ResponseController.
func (w deadlineWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// internalClient returns an API client that calls this process's own handler, with the rights of the request r.
func (s *Server) internalClient(r *http.Request) *client.Client {
	remote, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	if err != nil {
		remote = &net.TCPAddr{} // r.RemoteAddr is no address: the zero address has no access rights
	}
	doer := &http.Client{Transport: localTransport{s.app.Server().Handler, remote, r.Host, r.Header, r.Context()}}
	return client.NewWith(s.site.Settings.BaseURL, "", doer)
}

// localTransport passes requests to this process's own HTTP handler without a socket.
type localTransport struct {
	handler            fasthttp.RequestHandler
	remoteAddress      net.Addr
	host               string          // Host header of the agent's request
	outerRequestHeader http.Header     // header of the agent's request
	callerContext      context.Context // ends when the caller closes the connection
}

// RoundTrip passes one request to the handler. If the request's context ends first, the handler continues, and its
// response is dropped.
func (l localTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := new(fasthttp.RequestCtx)
	inner.Init(new(fasthttp.Request), l.remoteAddress, nil)
	inner.SetUserValue(site.LocalInternalContext, l.callerContext)
	if err := l.fillRequest(&inner.Request, r); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.handler(inner)
	}()
	select {
	case <-done:
		return toHTTPResponse(inner, r), nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

func (l localTransport) fillRequest(to *fasthttp.Request, r *http.Request) error {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Errorf("read the request's body: %w", err)
		}
		to.SetBody(body)
	}
	to.Header.SetMethod(r.Method)
	to.SetRequestURI(r.URL.RequestURI())
	// in the header, not only in the URI, which is parsed again if the site has a path prefix
	to.Header.SetHost(l.host)
	for name, values := range r.Header {
		to.Header.Set(name, values[0])
	}
	// Only these headers affect access rights. Accept-Encoding is not copied, so that the response is not compressed.
	for _, name := range append(conns.ProxyHeaders(), "Authorization", "Origin", "Sec-Fetch-Site", client.EvaluationKeyHeader) {
		// Copy all values of a header: a proxy may append its own X-Forwarded-For line after a forged one from the
		// visitor.
		if value := strings.Join(l.outerRequestHeader.Values(name), ","); value != "" {
			to.Header.Set(name, value)
		}
	}
	return nil
}

func toHTTPResponse(inner *fasthttp.RequestCtx, r *http.Request) *http.Response {
	status := inner.Response.StatusCode()
	resp := &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(inner.Response.Body())),
	}
	for name, value := range inner.Response.Header.All() {
		resp.Header.Add(string(name), string(value))
	}
	return resp
}
