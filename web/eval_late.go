package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models"
)

// evalReply is the answer to a waiting caller, apart from how it is sent.
type evalReply struct {
	status int
	device string // set when there is a result
	body   any
}

// answerLate answers before there is an answer: a proxy would give up a caller who hears nothing for a
// minute, and the result with him. The head goes first, then a space now and then, which JSON allows, then
// the answer. Its status is 200 whatever comes; a failure is told by "status": "error" in the body alone.
func (a evalAPI) answerLate(c *fiber.Ctx, w *waiter, request kernelrun.Request) {
	noCache(c)
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderContentLocation, a.cfg.BaseURL+"/api/v1/evaluations/"+w.id)
	c.Set("X-Accel-Buffering", "no")
	pod, every := podIP(c), a.limits.KeepAlive/2
	a.takeOver(c, func(out *outlet) {
		for ended := false; !ended; ended = w.within(every) {
			out.WriteByte(' ')
			if out.Flush() != nil {
				w.leave(errCallerGone)
			}
		}
		reply, err := a.reply(w, request, pod)
		if err != nil {
			f := failureOf(err)
			if !errors.Is(err, errCallerGone) {
				a.log.Error("evaluation request failed", "evaluation", w.id, "error", err)
			}
			reply.body = failureBody(models.Evaluation{ID: w.id}, f.message, pod)
		}
		json.NewEncoder(out).Encode(reply.body) // an error is the connection's, and comes again at the end
	})
}

// behindProxy tells whether something between the caller and this site may lose patience. A proxy need not
// say that it is there; nginx as it comes speaks HTTP/1.0.
func (s *Server) behindProxy(c *fiber.Ctx) bool {
	peer, host := addrOf(c.Context().RemoteAddr()), string(c.Request().Host())
	return !c.Request().Header.IsHTTP11() || s.secure() || hasProxyMark(c) || !peer.IsLoopback() && s.proxies.trust(peer) ||
		host != s.base.Host && !(isLoopback(host) && isLoopback(s.base.Host))
}

// within tells whether the evaluation has ended, or ends in this time.
func (w *waiter) within(d time.Duration) bool {
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
func (a evalAPI) reply(w *waiter, request kernelrun.Request, pod string) (evalReply, error) {
	failed := func(why string) evalReply {
		return evalReply{status: http.StatusInternalServerError, body: failureBody(w.last, why, pod)}
	}
	switch {
	case errors.Is(w.err, errQueueFull):
		return failed(a.noDevice()), nil
	case w.err != nil:
		return evalReply{}, w.err
	case w.last.State != models.EvaluationCompleted:
		return failed(failureText(w.last, request)), nil
	}
	answer, err := newEvalAnswer(w.last, pod)
	return evalReply{status: http.StatusOK, device: answer.GPUType, body: answer}, err
}
