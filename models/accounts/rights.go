package accounts

import "warpboard/models/db"

// Action is an action that needs a right.
type Action string

// Actions. accessRights lists who may perform them.
const (
	CreateTask       Action = "make a task"
	EditTask         Action = "edit a task"   // change, delete, and see it while it is hidden
	EditEvent        Action = "edit an event" // change it, and reveal its results
	ReportRun        Action = "report a run"
	ReviewRun        Action = "review a run" // see the reporters and their reasons; dismiss reports
	DisqualifyRun    Action = "disqualify a run"
	ReinstateRun     Action = "reinstate a run"
	RemoveRunNote    Action = "remove a note"
	RerunTask        Action = "rejudge a task"
	ValidateTask     Action = "run the validation script of a task"
	CancelRun        Action = "cancel a run"
	AddSubmission    Action = "add a submission for another person"
	DeleteSubmission Action = "delete a submission"
	RenameUser       Action = "rename"
	SetRole          Action = "set a role"
	BlockUser        Action = "block"
	ListPeople       Action = "list people"
	ReadAuditLog     Action = "read the audit log"
	ManageDevices    Action = "pause devices"
	ManageWorkers    Action = "manage workers"
	ManageWebhook    Action = "manage a webhook" // a webhook without an owner belongs to the site
	ReportComment    Action = "report a comment"
	ModerateComments Action = "moderate comments" // hide comments, lock lists of comments, and close reports
)

// OwnerIDs has the people who own the object of an action; 0 means no one.
type OwnerIDs struct {
	OwnerID  int64 // owner of the run, submission, or account; for a disqualification, the person who decided it
	AuthorID int64 // owner of the object's task
}

// peopleSet is a set of groups of people. Admins are in every set.
type peopleSet uint8

const (
	onlyAdmins   peopleSet = iota
	onlyCreators           // people who may make tasks
	onlyAuthors            // the author of the task, while they may make tasks
	onlyOwners             // the owner of the object
	onlySignedIn           // everyone with an account
)

// accessRight is one row of accessRights: who may perform an action, the exceptions, and the error for others.
type accessRight struct {
	allowedPeople peopleSet
	// excludesOwner refuses the object's owner: admins cannot demote or block themselves, and people cannot report
	// their own objects.
	excludesOwner bool
	refusal       string
}

// accessRights has the rights for all actions except reading sources, which depends on the deadline (MaySeeSource).
var accessRights = map[Action]accessRight{
	CreateTask:       {onlyCreators, false, "Only creators and admins can create tasks. Ask an admin for the creator role."},
	EditTask:         {onlyAuthors, false, "Only the author of the task and admins may edit it."},
	EditEvent:        {onlyAuthors, false, "Only the organizer of the event and admins may change it and reveal its results."},
	ReportRun:        {onlySignedIn, true, "Sign in to report another person's run. To withdraw your own run, delete its submission."},
	ReviewRun:        {onlyAuthors, false, "Only the author of the task and admins may review its runs."},
	DisqualifyRun:    {onlyAuthors, false, "Only the author of the task and admins may disqualify a run."},
	ReinstateRun:     {onlyOwners, false, "Only the person who disqualified the run, and admins, may reinstate it."},
	RemoveRunNote:    {onlyAuthors, false, "Only the person who submitted the run, the author of the task, and admins may remove its note."},
	RerunTask:        {onlyAuthors, false, "Only the author of the task and admins may have its runs measured again."},
	ValidateTask:     {onlyAuthors, false, "Only the author of the task and admins may have its validation script run."},
	CancelRun:        {onlyOwners, false, "Only the person who submitted a run, and admins, may cancel it."},
	AddSubmission:    {onlyAdmins, false, "Only an admin may add a submission for another person."},
	DeleteSubmission: {onlyOwners, false, "Only the person who made a submission, and admins, may delete it."},
	RenameUser:       {onlyOwners, false, "Only an admin may rename another person."},
	SetRole:          {onlyAdmins, true, "Only an admin may change roles, and no one can change their own: ask another admin."},
	BlockUser:        {onlyAdmins, true, "Only another admin may block this person."},
	ListPeople:       {onlyAdmins, false, "Only an admin may list people."},
	ReadAuditLog:     {onlyAdmins, false, "Only an admin may read the audit log."},
	ManageDevices:    {onlyAdmins, false, "Only an admin may pause or resume a device."},
	ManageWorkers:    {onlyAdmins, false, "Only an admin may manage workers."},
	ManageWebhook:    {onlyOwners, false, "Only an admin may manage the webhooks of the site, and those of other people."},
	ReportComment:    {onlySignedIn, true, "Sign in to report another person's comment. You can delete your own."},
	ModerateComments: {onlyAuthors, false, "Only the author of the task and admins may moderate its comments."},
}

// CanPerform reports whether the person may perform an action on an object with these owners.
func (u User) CanPerform(act Action, of OwnerIDs) bool {
	r, known := accessRights[act]
	if !known || r.excludesOwner && u.SignedIn() && u.ID == of.OwnerID {
		return false
	}
	switch {
	case u.IsAdmin():
		return true
	case !u.SignedIn():
		return false
	case r.allowedPeople == onlyCreators:
		return u.MayCreateTasks()
	case r.allowedPeople == onlyAuthors:
		return u.MayCreateTasks() && u.ID == of.AuthorID
	case r.allowedPeople == onlyOwners:
		return u.ID == of.OwnerID
	}
	return r.allowedPeople == onlySignedIn
}

// CheckPermission returns a Forbidden error if the person may not perform an action. The error names the people who
// may.
func (u User) CheckPermission(act Action, of OwnerIDs) error {
	if u.CanPerform(act, of) {
		return nil
	}
	return db.Errorf(db.Forbidden, "%s", accessRights[act].refusal)
}
