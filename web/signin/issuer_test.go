package signin_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"warpboard/web/site"
)

// testIssuer is an OpenID Connect provider on loopback: discovery, keys, authorization with PKCE, token, userinfo. It
// signs in the person in Claims without asking.
type testIssuer struct {
	*httptest.Server
	t   *testing.T
	key *rsa.PrivateKey

	mu     sync.Mutex
	Claims map[string]any // claims about the person; must contain "sub"
	Nonce  string         // if set, replaces the correct nonce in ID tokens
	Forged bool           // signs ID tokens with another key
	grants map[string]grant
	asked  []url.Values // parameters of the received authorization requests
}

type grant struct {
	challenge, nonce, redirect string
}

const (
	issuerKey    = "warpboard-client"
	issuerSecret = "warpboard-secret"
)

// issuerSigningKey generates the key once for all tests, because this takes more than a second with the race detector.
var issuerSigningKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newTestIssuer(t *testing.T) *testIssuer {
	t.Helper()
	key, err := issuerSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	i := &testIssuer{t: t, key: key, Claims: map[string]any{"sub": "1001"}, grants: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /jwks", i.jwks)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userinfo)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// set changes the issuer's claims about the person.
func (i *testIssuer) set(claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.Claims = claims
}

func (i *testIssuer) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"userinfo_endpoint": i.URL + "/userinfo", "jwks_uri": i.URL + "/jwks",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"code_challenge_methods_supported":      []string{"S256"},
	})
}

func (i *testIssuer) jwks(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"keys": []map[string]any{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "test",
		"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// authorize grants every valid request at once and redirects the browser to the callback.
func (i *testIssuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, q)
	if q.Get("client_id") != issuerKey || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		http.Error(w, "bad authorization request", http.StatusBadRequest)
		return
	}
	code := site.RandomText(16)
	i.grants[code] = grant{challenge: q.Get("code_challenge"), nonce: q.Get("nonce"), redirect: q.Get("redirect_uri")}
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token exchanges a code for tokens, once, and only for the client that started the flow.
func (i *testIssuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	g, known := i.grants[r.FormValue("code")]
	delete(i.grants, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	client := id == issuerKey && secret == issuerSecret
	if !known || !client || g.redirect != r.FormValue("redirect_uri") || encode(sum[:]) != g.challenge {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	if i.Nonce != "" {
		g.nonce = i.Nonce
	}
	answer(w, map[string]any{
		"access_token": "access-" + site.RandomText(8), "token_type": "Bearer", "expires_in": 300,
		"id_token": i.idToken(g),
	})
}

func (i *testIssuer) idToken(g grant) string {
	claims := map[string]any{"iss": i.URL, "aud": issuerKey, "nonce": g.nonce,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix()}
	for name, value := range i.Claims {
		claims[name] = value
	}
	header, _ := json.Marshal(map[string]any{"alg": "RS256", "kid": "test", "typ": "JWT"})
	body, err := json.Marshal(claims)
	if err != nil {
		i.t.Error(err)
	}
	signed := encode(header) + "." + encode(body)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Error(err)
	}
	if i.Forged {
		signature[0] ^= 1
	}
	return signed + "." + encode(signature)
}

func (i *testIssuer) userinfo(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.Header.Get("Authorization") == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer(w, i.Claims)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
