package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/clients/go"
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/mcp"
	"warpboard/web/webtest"
)

// hearing connects a client to an MCP server. The channel receives the progress messages.
func hearing(t *testing.T, transport sdk.Transport) (webtest.Agent, chan string) {
	t.Helper()
	messages := make(chan string, 100)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context,
			r *sdk.ProgressNotificationClientRequest) {
			messages <- r.Params.Message
		},
	}).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return webtest.Agent{T: t, ClientSession: session}, messages
}

func TestAnAgentHearsOfTheProgressOfALongEvaluation(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go mcp.ServeStdio(t.Context(), client.New(s.URL, s.Token), "test", toServer, fromServer)
	for name, transport := range map[string]sdk.Transport{
		"http": &sdk.StreamableClientTransport{Endpoint: s.URL + "/mcp",
			HTTPClient: &http.Client{Transport: webtest.Bearer(s.Token)}, DisableStandaloneSSE: true},
		"stdio": &sdk.IOTransport{Reader: toClient, Writer: fromClient},
	} {
		t.Run(name, func(t *testing.T) {
			a, messages := hearing(t, transport)
			params := &sdk.CallToolParams{Name: "evaluate_kernel",
				Arguments: webtest.Object{"request": webtest.Object{"kernel": webtest.TorchModel("return x")}}}
			params.SetProgressToken("p")
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				result, err := a.CallTool(a.Context(), params)
				if err != nil || result.IsError {
					t.Errorf("%v %v", result, err)
					return
				}
				answer, _ := json.Marshal(result.StructuredContent)
				if !strings.Contains(string(answer), `"correctness":true`) {
					t.Errorf("answer: %s", answer)
				}
			}()
			e := s.WaitForState(work.EvaluationSubmitted)
			for range 2 { // for longer than a call without progress messages may wait
				if message := <-messages; message != "evaluation "+e.ID+": submitted" {
					t.Errorf("told of %q", message)
				}
			}
			s.Finish(e)
			<-ended
		})
	}
}

func TestAnAgentThatAsksForNoProgressIsAnsweredInTime(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Impatient, func(c *web.Config) { c.TokenlessEvaluators = "all" })
	for name, token := range map[string]string{"with a token": s.Token, "with a key": ""} {
		t.Run(name, func(t *testing.T) {
			a := s.Agent(t, token)
			answer, refused := a.Call("validate_kernel", webtest.Object{"kernel_source": "x", "kernel_type": "torch"})
			if refused != "" || answer["ended"] != false || answer["job_id"] == nil || answer["status"] != "submitted" {
				t.Fatalf("%v %s", answer, refused)
			}
			e, err := s.Cfg.Store.Work.Evaluation(t.Context(), answer["job_id"].(string))
			if err != nil {
				t.Fatal(err)
			}
			s.Finish(e)
			ask := webtest.Object{"job_id": answer["job_id"], "wait": 5}
			if token == "" {
				ask["key"] = answer["key"]
			}
			answer, refused = a.Call("get_job_status", ask)
			if refused != "" || answer["ended"] != true ||
				answer["result"].(webtest.Object)["kernel_exec_result"].(webtest.Object)["correctness"] != true {
				t.Errorf("%v %s", answer, refused)
			}
		})
	}
}

func TestAnAgentThatGoesAwayCancels(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxLive = 1 })
	ask, err := json.Marshal(webtest.Object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": webtest.Object{
		"name": "evaluate_kernel", "arguments": webtest.Object{"request": webtest.Object{"kernel": webtest.TorchModel(
			"return x")}}, "_meta": webtest.Object{"progressToken": "p"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{"the first word", "nothing"} {
		conn, err := net.Dial("tcp", s.Cfg.Settings.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(60 * time.Second))
		text := string(ask)
		if after == "nothing" {
			text = strings.Replace(text, "progressToken", "none", 1)
		}
		fmt.Fprintf(conn,
			"POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
			s.Cfg.Settings.Addr, s.Token, len(text), text)
		if after == "the first word" {
			if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v %v", resp, err)
			}
		}
		s.WaitForState(work.EvaluationSubmitted)
		conn.Close()
		s.WaitForState(work.EvaluationCancelled)
	}
}

func TestAnAgentOnPipesThatGoesAwayCancels(t *testing.T) {
	s := webtest.NewEvalSite(t)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.ServeStdio(t.Context(), client.New(s.URL, s.Token), "test", toServer, fromServer) }()
	a := webtest.Connect(t, &sdk.IOTransport{Reader: toClient, Writer: fromClient})
	go a.CallTool(a.Context(), &sdk.CallToolParams{Name: "evaluate_kernel",
		Arguments: webtest.Object{"request": webtest.Object{"kernel": webtest.TorchModel("return x")}}})
	s.WaitForState(work.EvaluationSubmitted)
	fromClient.Close()
	toClient.Close()
	<-ended
	s.WaitForState(work.EvaluationCancelled)
}
