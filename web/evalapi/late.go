package evalapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// reply is the answer to a waiting caller, without its transport.
type reply struct {
	status int
	device string // set when there is a result
	body   any
}

// answerLate begins to answer before the answer exists: a proxy would end a request without traffic after a minute, and
// lose the result. The head goes first, then a space now and then, which JSON allows, then the answer. The status is
// always 200; only "status": "error" in the body shows a failure.
func (a *API) answerLate(c *fiber.Ctx, w *waiter, request kernelrun.Request) {
	noCache(c)
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderContentLocation, a.site.Settings.BaseURL+"/api/v1/evaluations/"+w.id)
	c.Set("X-Accel-Buffering", "no")
	pod, every := evaluations.PodIP(c), a.site.Settings.Limits.KeepAlive/2
	a.site.StreamBody(c, func(out *conns.Writer) {
		for ended := false; !ended; ended = w.endsWithin(every) {
			out.WriteByte(' ')
			if out.Flush() != nil {
				w.leave(errCallerGone)
			}
		}
		reply, err := a.reply(w, request, pod)
		if err != nil {
			f := site.FailureOf(err)
			if !errors.Is(err, errCallerGone) {
				a.site.Log.Error("evaluation request failed", "evaluation", w.id, "err", err)
			}
			reply.body = failureBody(work.Evaluation{ID: w.id}, f.Message, pod)
		}
		json.NewEncoder(out).Encode(reply.body) // an error is the connection's, and comes again at the end
	})
}

// behindProxy reports whether a proxy between the caller and this site may end the request. A proxy need not identify
// itself; nginx by default uses HTTP/1.0.
func (a *API) behindProxy(c *fiber.Ctx) bool {
	peer, host := conns.Peer(c), string(c.Request().Host())
	return !c.Request().Header.IsHTTP11() || a.site.Secure() || conns.HasProxyMark(c) || !peer.IsLoopback() && a.site.Proxies.Trust(peer) ||
		host != a.site.Base.Host && !(conns.IsLoopback(host) && conns.IsLoopback(a.site.Base.Host))
}

// endsWithin reports whether the evaluation has ended, or ends in this time.
func (w *waiter) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.done:
		return true
	case <-timer.C:
		return false
	}
}

// reply makes the answer of an evaluation that has ended. The error is one of the site, not of the kernel.
func (a *API) reply(w *waiter, request kernelrun.Request, pod string) (reply, error) {
	failed := func(why string) reply {
		return reply{status: http.StatusInternalServerError, body: failureBody(w.last, why, pod)}
	}
	switch {
	case errors.Is(w.err, errQueueFull):
		return failed(a.noDevice(w.last)), nil
	case w.err != nil:
		return reply{}, w.err
	case w.last.State != work.EvaluationCompleted:
		return failed(failureText(w.last, request)), nil
	}
	answer, err := evaluations.NewAnswer(w.last, evaluations.KernelOf(request.CustomKernel), pod)
	return reply{status: http.StatusOK, device: answer.GPUType, body: answer}, err
}
