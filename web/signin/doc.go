// Package signin is every way into an account: providers over OAuth and OpenID Connect, sign-in without a
// provider on the developer's own machine, and the accounts that one person has joined.
//
// Read auth.go first (the browser leaves and comes back), then flow.go (what it keeps in the meantime), providers.go (which
// there are), oauth.go and oidc.go (what each says of a person), identities.go, session.go, developer.go.
//
// To add a provider: a case in newProvider, its rules in emailVerified and personOf (may its login be trusted?), and a row
// in app/config_signin.go.
//
// Trust: an e-mail address counts only when the provider says that it is verified, a login only with its
// provider's name before it, and what a provider answers is never shown.
package signin
