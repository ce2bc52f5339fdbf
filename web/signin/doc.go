// Package signin has every way to sign in: providers over OAuth and OpenID Connect, sign-in without a provider on the
// developer's own machine, and the identities of one person.
//
// Read auth.go first (the browser leaves and comes back), then flow.go (its state in between), providers.go (the list),
// oauth.go and oidc.go (a person's data from each), identities.go, session.go, developer.go.
//
// To add a provider: a case in newProvider, its rules in isEmailVerified and personOf (may its login be trusted?), and
// a row in internal/app/config_signin.go.
//
// Trust: an e-mail address counts only if the provider marks it as verified, a login only with its provider's name
// before it, and a provider's answer is never shown.
package signin
