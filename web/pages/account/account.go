// Package account has the pages of people: signing in, the account page and the public page, the inbox, webhooks, and
// joining members' boards with the invite codes that their authors create.
//
// Read account.go and users.go, then inbox.go, webhooks.go, join.go with members.go, and login.go: the page on which a
// person approves the sign-in of a command line. The rest of this device flow is in web/api (login.go) and
// internal/app/cli.
//
// What may go wrong: an attacker can send a link with a sign-in code to another person, who may approve it and so give
// away the account. So the page shows the program, its address, and the time of the request; opening it decides
// nothing, and a code is valid for one answer. Viewing the newest notices marks them as read, so a browser that loads
// pages in advance must be recognized (Sec-Purpose). Secrets and codes are shown once, in a response that no cache may
// store. A webhook of another person gives 404 instead of 403, so that the status does not reveal that it exists.
package account

import (
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Account has the handlers of the pages of accounts.
type Account struct {
	site   *site.Site
	runs   *runs.Runs
	signIn *signin.SignIn
}

// New returns the handlers of the pages of accounts.
func New(site *site.Site, runs *runs.Runs, signIn *signin.SignIn) *Account {
	return &Account{site: site, runs: runs, signIn: signIn}
}

const submissionsPerPage = 25 // on one page

// SignInPage shows the sign-in providers. It redirects people who have signed in to the page that they requested,
// except with developer sign-in, where they can sign in under another name.
func (p *Account) SignInPage(c *fiber.Ctx) error {
	next := signin.SafeRedirectPath(c.Query("next", "/"))
	page := views.SignInPage{
		Page:      p.site.Page(c, "Sign in", ""),
		Developer: p.signIn.IsDeveloper(c),
		NeedsLink: p.signIn.AllowsDeveloperLink(c),
	}
	if site.Viewer(c) != nil && !page.Developer {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	page.PathAfterSignIn = next
	if page.Developer {
		page.OtherLink = p.signIn.NewDeveloperLink()
		c.Set(fiber.HeaderCacheControl, "no-store")
	}
	if err := p.addInvite(c, &page); err != nil {
		return err
	}
	for _, provider := range p.signIn.Providers {
		page.Providers = append(page.Providers, views.SignInProvider{Key: provider.Name, Name: provider.Label})
	}
	return p.site.Render(c, fiber.StatusOK, views.SignIn(page))
}

// addInvite shows the task of the invite link that a visitor followed, if its code is valid.
func (p *Account) addInvite(c *fiber.Ctx, page *views.SignInPage) error {
	code, invited := strings.CutPrefix(page.PathAfterSignIn, views.JoinPath+"/")
	if !invited || page.Viewer != nil {
		return nil
	}
	offer, err := p.site.PreviewInvite(c, code)
	if err != nil && site.FailureFromError(err).Status < fiber.StatusInternalServerError {
		return nil // the page of the code shows the reason
	}
	if err != nil {
		return err
	}
	owner, err := p.site.Store.Accounts.User(c.UserContext(), offer.Task.OwnerID)
	page.Invite, page.Inviter = site.TaskLink(offer.Task), owner.Name
	return err
}

// Me shows the viewer's own account.
func (p *Account) Me(c *fiber.Ctx) error {
	return p.showMe(c, accounts.Token{}, "")
}

// DatasetsSave stores whether datasets may contain the viewer's sources.
func (p *Account) DatasetsSave(c *fiber.Ctx) error {
	if err := p.site.Store.Accounts.SetExcludedFromDatasets(c.UserContext(), site.Actor(c),
		c.FormValue("out") != ""); err != nil {
		return err
	}
	return site.Redirect(c, "/me?done=saved")
}

// showToken shows the secret of a new token. Only this response contains it.
func (p *Account) showToken(c *fiber.Ctx, token accounts.Token, secret string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.showMe(c, token, secret)
}

func (p *Account) showMe(c *fiber.Ctx, token accounts.Token, secret string) error {
	user := site.Actor(c)
	page := views.MePage{Page: p.site.Page(c, "Your account", "me"), Role: string(user.Role), NoDataset: user.ExcludedFromDatasets, NewToken: secret, NewName: token.Name, Popcorn: p.site.Settings.BaseURL + views.PopcornPath,
		Developer: p.signIn.IsDeveloper(c), Now: p.site.Now(), SessionID: site.SessionID(c), ProviderName: p.signIn.ProviderLabel}
	var err error
	page.Submissions, err = p.runs.SubmissionRows(c.UserContext(), user, submissions.SubmissionFilter{
		UserID: user.ID,
		Limit:  submissionsPerPage,
	})
	if err != nil {
		return err
	}
	page.Older = len(page.Submissions) == submissionsPerPage
	if err := p.addIdentities(c, user.ID, &page); err != nil {
		return err
	}
	if page.Tokens, err = p.site.Store.Accounts.Tokens(c.UserContext(), user.ID); err != nil {
		return err
	}
	if page.Sessions, err = p.site.Store.Accounts.Sessions(c.UserContext(), user.ID); err != nil {
		return err
	}
	if page.Budget, err = p.site.Store.Quotas.BudgetOf(c.UserContext(), user); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Me(page))
}

// addIdentities sets the person's identities, and the providers with which the person has none, in the page.
func (p *Account) addIdentities(c *fiber.Ctx, userID int64, page *views.MePage) error {
	var err error
	if page.Identities, err = p.site.Store.Accounts.Identities(c.UserContext(), userID); err != nil {
		return err
	}
	for _, provider := range p.signIn.Providers {
		page.Linkable = append(page.Linkable, views.LinkChoice{
			Name: provider.Label,
			URL:  p.signIn.AddIdentityURL(c, provider),
		})
	}
	return nil
}

// TokenCreate creates a personal token and shows its secret. Only this response contains it.
func (p *Account) TokenCreate(c *fiber.Ctx) error {
	user := site.Actor(c)
	days, err := strconv.Atoi(c.FormValue("days", "0"))
	if err != nil || days < 0 || days > 3650 {
		return site.Invalid("days", "A token lives between 1 and 3650 days; 0 means that it never expires.")
	}
	secret, token, err := p.site.Store.Accounts.CreateToken(c.UserContext(), user.ID, c.FormValue("name"), time.Duration(days)*24*time.Hour)
	if err != nil {
		return err
	}
	return p.showToken(c, token, secret)
}

// TokenRevoke revokes one of the viewer's tokens.
func (p *Account) TokenRevoke(c *fiber.Ctx) error {
	return site.RemoveOwnObject(c, p.site.Store.Accounts.RevokeToken, "/me")
}
