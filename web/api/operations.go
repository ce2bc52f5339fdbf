package api

import "github.com/gofiber/fiber/v2"

// operation describes one operation of the API: its method, its path, and what OpenAPI shows about it.
type operation struct {
	tag, method, path, summary string
	needsToken                 bool // a token is needed, unless the operator opened the address
	bodyType                   string
	queryParameters            map[string]string
	successStatus              int
	answerSchema               map[string]any
	handler                    fiber.Handler // nil: another package responds, or the body is a task (PublishTask)
}

// evaluationsTag is the prefix of the tags of evaluation operations. If the operator opened evaluations, these
// operations accept a key instead of a token.
const evaluationsTag = "Evaluations"

const webhooksTag = "Webhooks"

// Paths of pages that also respond with data for programs.
const (
	profilePath   = "/submissions/{id}/runs/{run}/profile"
	boardDataPath = "/tasks/{slug}/boards/{device}"
)

// operations lists all operations of the API in the order of its page. The routes, the check of query parameters, and
// the OpenAPI document are made from this list.
func (a *API) operations() []operation {
	const evaluations, plain, account, boards, talk, hooks, data = evaluationsTag, evaluationsTag + ", unversioned", "Signing in", "Tasks and boards", "Comments and inbox", webhooksTag, "Profiles and data sets"
	after := map[string]string{"after": "next of the previous page"}
	page := map[string]string{"page": "page, from 1"}
	suite := map[string]string{"device": "name of the device; absent: the one with the most tasks", "baseline": "name of the baselines; absent: the one that most boards have", "page": "of up to 200 entrants and 20,000 results; the first by default"}
	past := map[string]string{"after": "number of entries on all previous pages, as in Link"}
	anything := map[string]any{"type": "object"}
	text, file := map[string]any{"type": "string"}, map[string]any{"type": "string", "format": "binary"}
	oneCase := map[string]string{"case": "number of the benchmark case, from 0; absent: 0"}
	compared := map[string]string{"a": "id of a run", "b": "id of another run", "case": "number of the benchmark case of the profiles, from 0; absent: 0"}
	return []operation{
		{evaluations, "POST", "/api/v1/evaluations", "Submit an evaluation without waiting for the result: one kernel (EvaluationRequest) or two (CompareRequest). Location has its address. Only you and the admins can read it, unless it is shared. A repeated request with the same Idempotency-Key header returns the same evaluation.", true, "EvaluationOrCompare", nil, 202, schemaRef("Evaluation"), a.CreateEvaluation},
		{evaluations, "POST", "/api/v1/compile", "Compile a C++ or CUDA source, or a submission to a task, without running it, and wait for the compilers' messages, the kernels' resources, and the generated code. After 50 s the answer comes without a result, and Location has its address. It needs no slot of a GPU.", true, "CompileRequest", nil, 200, schemaRef("Evaluation"), a.Compile},
		{evaluations, "GET", "/api/v1/evaluations", "List your evaluations, newest first.", true, "", page, 200, listSchema("evaluations", "Evaluation"), a.ListEvaluations},
		{evaluations, "GET", "/api/v1/evaluations/{id}", "Read one of your evaluations, or a shared one.", false, "", map[string]string{"wait": "seconds to wait for its end, up to 50; while too many requests wait, the answer comes at once, with Retry-After"}, 200, schemaRef("Evaluation"), a.GetEvaluation},
		{evaluations, "PATCH", "/api/v1/evaluations/{id}", "Share one of your evaluations with anyone who has its id, or stop sharing it.", true, "EvaluationChange", nil, 200, schemaRef("Evaluation"), a.ChangeEvaluation},
		{evaluations, "POST", "/api/v1/evaluations/{id}/cancel", "Cancel one of your evaluations.", true, "", nil, 200, schemaRef("Evaluation"), a.CancelEvaluation},
		{evaluations, "GET", "/api/v1/evaluations/{id}/events", "Follow one of your evaluations, or a shared one, as server-sent events. Each event has the whole evaluation; the last one is named end.", false, "", map[string]string{"after": "number of the last change that you received"}, 200, schemaRef("Evaluation"), a.EvaluationEvents},
		{evaluations, "POST", "/api/v1/evaluations/batch", "Submit up to 1,000 evaluations at once, as JSON or JSON lines (application/x-ndjson). Valid requests are accepted even if others are refused. A repeated request with the same Idempotency-Key header returns the same batch.", true, "NewBatch", nil, 202, schemaRef("Batch"), a.CreateBatch},
		{evaluations, "GET", "/api/v1/evaluations/batch/{id}/results", "Follow one of your batches as JSON lines, in the order in which evaluations end. Each line is a BatchResult; the last one has end. Skip empty lines, which are heartbeats.", true, "", map[string]string{"after": "number of results that you received"}, 200, schemaRef("BatchResult"), a.BatchResults},
		{evaluations, "DELETE", "/api/v1/evaluations/batch/{id}", "Cancel the evaluations of one of your batches that have not ended.", true, "", nil, 204, nil, a.CancelBatch},
		{evaluations, "GET", "/api/v1/evaluations/stats", "Read the evaluation service's statistics; for admins and the operator.", false, "", nil, 200, anything, nil},

		{plain, "POST", "/evaluate", "Compile a kernel, check that it runs, time it, and wait for the result.", true, "EvaluationRequest", nil, 200, schemaRef("EvaluationAnswer"), nil},
		{plain, "POST", "/compare", "Compile two kernels, compare their outputs, time them alternately, and wait for the result.", true, "CompareRequest", nil, 200, schemaRef("EvaluationAnswer"), nil},
		{plain, "POST", "/", "The same as /compare; also takes the older body with ref_code and custom_code.", true, "CompareRequest", nil, 200, schemaRef("EvaluationAnswer"), nil},
		{plain, "GET", "/job/{id}", "Read the state of a job.", true, "", nil, 200, schemaRef("Job"), nil},
		{plain, "GET", "/health", "Read the health of the service, the number of idle devices, and the types of kernels that they can evaluate (backends).", true, "", nil, 200, anything, nil},
		{plain, "GET", "/stats", "Read the service's statistics; for admins and the operator.", true, "", nil, 200, anything, nil},
		{plain, "POST", "/admin/cleanup-jobs", "Remove your jobs of more than an hour ago that have ended; for admins, everyone's that ended more than 300 seconds ago.", true, "", nil, 200, anything, nil},

		{account, "POST", "/api/v1/login", "Request a token. A person approves the request in a browser, at the address in the answer.", false, "NewLogin", nil, 201, schemaRef("Login"), a.BeginLogin},
		{account, "POST", "/api/v1/login/token", "Check whether the request was approved. The token is sent only once.", false, "LoginQuestion", nil, 200, schemaRef("LoginAnswer"), a.RedeemLogin},
		{account, "GET", "/api/v1/tokens", "List your valid tokens, newest first, without their secrets.", true, "", nil, 200, listSchema("tokens", "Token"), a.Tokens},
		{account, "DELETE", "/api/v1/tokens/{id}", "Revoke one of your tokens.", true, "", nil, 204, nil, a.RevokeToken},
		{boards, "GET", "/api/v1/tasks", "List the tasks.", false, "", nil, 200, listSchema("tasks", "TaskSummary"), a.Tasks},
		{boards, "GET", "/api/v1/tasks/{slug}", "Read a task.", false, "", nil, 200, schemaRef("Task"), a.Task},
		{boards, "GET", "/api/v1/tasks/{slug}/draws", "List the draws for the ranges in a task's cases, at most 100, with the newest version and software first. A draw includes its cases once the task has a newer version or is closed.", false, "", nil, 200, listSchema("draws", "Draw"), a.Draws},
		{boards, "GET", "/api/v1/tasks/{slug}/bundle", "Download a task's files as a zip, or its reference file in the legacy format. Solutions are included only if you may edit the task.", false, "", nil, 200, file, nil},
		{boards, "POST", "/api/v1/tasks/{slug}", "Create or update a task; for creators. The body is a zip, a reference file in the legacy format, or a problem of another benchmark, such as KernelBench.", true, "", map[string]string{
			"file": "file name of the upload; its suffix distinguishes a reference file from a zip", "devices": "devices of a new task, separated by commas; absent: the devices that the task names",
			"deadline":   "when the task closes, such as 2030-01-31T18:00:00Z, or none; absent: the upload's deadline, or unchanged",
			"visibility": "who sees the new task: public, unlisted, members or hidden; absent: public", "dry_run": "true: only report what would change"}, 200, schemaRef("Published"), nil},
		{boards, "POST", "/api/v1/tasks/{slug}/validation", "Run the task's validation script on the top ten entries of each board; for the task's author and admins, after the deadline. The entries of the boards then have its answers.", true, "", nil, 202, schemaRef("ValidationQueued"), a.RunValidation},
		{boards, "GET", "/api/v1/boards/{slug}/{device}", "Read a board.", false, "", map[string]string{"page": "page, from 1", "version": "number of the task's version"}, 200, schemaRef("Board"), a.Board},
		{boards, "GET", "/api/v1/leaderboards", "Rank people over the public tasks by points.", false, "", map[string]string{"page": "page, from 1", "device": "a device, or a family of devices; absent: all",
			"from": "first day of the season, such as 2026-10-01; absent: open", "to": "its last day"}, 200, schemaRef("Leaderboard"), a.Leaderboard},
		{boards, "GET", "/api/v1/capacity", "List the existing and wanted slots of each device, for tools that start workers.", false, "", nil, 200, listSchema("devices", "Capacity"), a.Capacity},
		{boards, "GET", "/api/v1/devices", "List the devices and how busy they are.", false, "", map[string]string{"packages": "true: with the Python packages of each device's workers"}, 200, listSchema("devices", "Device"), a.Devices},
		{boards, "GET", "/api/v1/events", "List the events (groups of tasks with one start and one end), with the latest end first.", false, "", nil, 200, listSchema("events", "EventSummary"), a.Events},
		{boards, "GET", "/api/v1/events/{slug}/suite", "Compare the entrants of an event with the baselines of its boards: fast_p, the geometric mean of the speedups, and the share of correct tasks.", false, "", suite, 200, schemaRef("Suite"), a.EventSuite},
		{boards, "GET", "/api/v1/tags/{tag}/suite", "The same over the tasks with a tag.", false, "", suite, 200, schemaRef("Suite"), a.TagSuite},
		{boards, "GET", "/api/v1/events/{slug}", "Read an event with a page of its standings.", false, "", map[string]string{"at": "time, to read the standings as they were at the start of its minute", "device": "name of a device, to count only its boards", "page": "of 200 entrants; the first by default"}, 200, schemaRef("EventStandings"), a.Event},
		{boards, "GET", "/api/v1/runs/{id}/statement", "Read the site's statement about a ranked run: an in-toto statement in a DSSE envelope, signed with a key of /.well-known/warpboard-key.json.", false, "", nil, 200, schemaRef("Envelope"), a.Statement},
		{boards, "POST", "/api/v1/join", "Join a members' board with an invite code. Members do not use up a code.", true, "InviteCode", nil, 200, schemaRef("Joined"), a.JoinTask},
		{boards, "DELETE", "/api/v1/tasks/{slug}/membership", "Leave a members' board. Your entries stay; an invite code lets you in again.", true, "", nil, 204, nil, a.LeaveTask},
		{boards, "GET", "/api/v1/me", "Read the owner of this token.", true, "", nil, 200, schemaRef("User"), a.Me},
		{boards, "GET", "/api/v1/submissions", "List your submissions, newest first.", true, "", map[string]string{"before": "next of the previous page", "limit": "how many, up to 50", "task": "slug of a task, to list only submissions to it"}, 200, schemaRef("SubmissionList"), a.ListSubmissions},
		{boards, "POST", "/api/v1/submissions", "Submit a kernel to a task. A repeated request with the same Idempotency-Key header returns the same submission.", true, "NewSubmission", nil, 201, schemaRef("Submission"), a.CreateSubmission},
		{boards, "GET", "/api/v1/submissions/{id}", "Read a submission with its runs and stages.", false, "", map[string]string{"wait": "seconds to wait for its end, up to 25; while too many requests wait, the answer comes at once, with Retry-After"}, 200, schemaRef("Submission"), a.GetSubmission},
		{boards, "GET", "/api/v1/submissions/{id}/source", "Read the submitted files: your own, or anyone's after the task's deadline.", false, "", nil, 200, schemaRef("SourceFile"), a.SubmissionSource},
		{boards, "POST", "/api/v1/submissions/{id}/cancel", "Cancel one of your submissions.", true, "", nil, 200, schemaRef("Submission"), a.CancelSubmission},
		{boards, "GET", "/api/v1/submissions/{id}/events", "Follow a submission as server-sent events. Each has an Event; the last one is named end.", false, "", map[string]string{"after": "id of the last event that you received"}, 200, schemaRef("Event"), a.SubmissionEvents},
		{talk, "GET", "/api/v1/tasks/{slug}/comments", "List the comments on a task, oldest first, at most 50. The author's write-up comes first.", false, "", after, 200, schemaRef("CommentList"), a.Comments},
		{talk, "POST", "/api/v1/tasks/{slug}/comments", "Comment on a task.", true, "NewComment", nil, 201, schemaRef("Comment"), a.AddComment},
		{talk, "GET", "/api/v1/submissions/{id}/comments", "List the comments on a submission whose source everyone can read.", false, "", after, 200, schemaRef("CommentList"), a.Comments},
		{talk, "POST", "/api/v1/submissions/{id}/comments", "Comment on a submission whose source everyone can read.", true, "NewComment", nil, 201, schemaRef("Comment"), a.AddComment},
		{talk, "DELETE", "/api/v1/comments/{id}", "Delete one of your comments.", true, "", nil, 204, nil, a.DeleteComment},
		{talk, "POST", "/api/v1/comments/{id}/report", "Report a comment to the task's author and the admins.", true, "NewReport", nil, 204, nil, a.ReportComment},
		{talk, "GET", "/api/v1/inbox", "List your notices, newest first, at most 50.", true, "", map[string]string{"before": "next of the previous page"}, 200, schemaRef("InboxPage"), a.Inbox},
		{talk, "POST", "/api/v1/inbox/read", "Mark your notices as read.", true, "", map[string]string{"up_to": "id of the newest notice to mark; absent: all"}, 204, nil, a.MarkInboxRead},
		{hooks, "GET", "/api/v1/webhooks", "List your webhooks: addresses of other programs that are notified when your runs end and when you take or lose a record.", true, "", map[string]string{"site": "true: the site's, for admins"}, 200, listSchema("webhooks", "Webhook"), a.Webhooks},
		{hooks, "POST", "/api/v1/webhooks", "Create a webhook. Only this answer has its signing secret.", true, "NewWebhook", nil, 201, schemaRef("Webhook"), a.CreateWebhook},
		{hooks, "DELETE", "/api/v1/webhooks/{id}", "Delete one of your webhooks, with its log.", true, "", nil, 204, nil, a.DeleteWebhook},
		{hooks, "POST", "/api/v1/webhooks/{id}/test", "Send a test to one of your webhooks.", true, "", nil, 204, nil, a.TestWebhook},
		{hooks, "GET", "/api/v1/webhooks/{id}/deliveries", "List the deliveries of one of your webhooks, newest first, at most 50.", true, "", map[string]string{"before": "id of the last delivery on the previous page"}, 200, listSchema("deliveries", "Delivery"), a.Deliveries},
		{hooks, "POST", "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver", "Send a delivery again, with the same message_id.", true, "", nil, 200, schemaRef("Delivery"), a.Redeliver},
		{data, "GET", "/compare.json", "Compare two runs: scores, cases, and, if both have a profile of the case, their kernels.", false, "", compared, 200, schemaRef("Comparison"), nil},
		{data, "GET", "/compare.csv", "The same as a table: times of all cases, and metrics of the kernels.", false, "", compared, 200, text, nil},
		{data, "GET", profilePath + ".json", "Read the Nsight Compute measurements of one benchmark case of a run, with the metrics that the site derives from them.", false, "", oneCase, 200, schemaRef("Profile"), nil},
		{data, "GET", profilePath + ".txt", "The same as text: what bounds each kernel, the findings, the hottest instructions.", false, "", oneCase, 200, text, nil},
		{data, "GET", profilePath + ".csv", "The metrics of each kernel as a table.", false, "", oneCase, 200, text, nil},
		{data, "GET", profilePath + ".ptx", "The PTX of the kernel that took the most time, if you may read the source.", false, "", oneCase, 200, text, nil},
		{data, "GET", profilePath + ".ncu-rep", "Download the original Nsight Compute report, if you may read the source.", false, "", oneCase, 200, file, nil},
		{data, "GET", boardDataPath + "/entries.csv", "Download a board as a table.", false, "", nil, 200, text, nil},
		{data, "GET", boardDataPath + "/dataset.jsonl", "Download a closed task's board with the sources, as JSON lines. The first line describes the dataset. A page has at most 500 entries and 16 MiB of sources; the Link header has the address of the next page.", false, "", past, 200, text, nil},
		{data, "GET", boardDataPath + "/dataset.parquet", "The same as Parquet.", false, "", past, 200, file, nil},
		{data, "GET", boardDataPath + "/kernelbot.parquet", "Download the ranked runs of a closed task's board with the sources, in the columns of KernelBot's dataset. A page has at most 100 runs and 16 MiB of sources; the Link header has the address of the next page.", false, "", map[string]string{"after": "id of the last submission on the previous page"}, 200, file, nil},
		{data, "GET", boardDataPath + "/README.md", "Read the card for the board's datasets on Hugging Face.", false, "", nil, 200, text, nil},
	}
}
