package web

import (
	"bytes"
	"crypto/x509"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// pictured is a site whose provider serves a picture, red or after changed another one, and counts who asks.
type pictured struct {
	*testSite
	issuer  *testIssuer
	at      string // address of a picture
	asked   atomic.Int32
	hold    chan struct{} // pictures of /slow come when release has closed it
	release func()
}

func startPictured(t *testing.T) *pictured {
	t.Helper()
	s := &pictured{issuer: newTestIssuer(t), hold: make(chan struct{})}
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewPaletted(image.Rect(0, 0, 300, 200), color.Palette{color.RGBA{200, 30, 30, 255}})); err != nil {
		t.Fatal(err)
	}
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if len(r.Cookies()) > 0 || r.Referer() != "" {
			t.Errorf("the provider's server learns %v, %s", r.Cookies(), r.Referer())
		}
		switch r.URL.Path {
		case "/slow":
			<-s.hold
		case "/gone":
			http.NotFound(w, r)
			return
		}
		w.Write(drawn.Bytes())
	}))
	s.release = sync.OnceFunc(func() { close(s.hold) })
	t.Cleanup(host.Close)
	t.Cleanup(s.release) // before it, which waits for its answers
	s.at = host.URL
	roots := x509.NewCertPool()
	roots.AddCert(host.Certificate())
	s.testSite = startSite(t, withIssuer(s.issuer, "oidc:boss"), func(cfg *Config) {
		cfg.PicturesAllowed, cfg.PictureRoots = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, roots
	})
	return s
}

// came signs somebody in whose picture the provider says to be there.
func (s *pictured) came(login, picture string) *browser {
	s.t.Helper()
	s.issuer.set(map[string]any{"sub": login, "preferred_username": login, "picture": picture})
	b := s.browser()
	wantStatus(s.t, b.get("/auth/oidc?next=/api/v1/me"), http.StatusOK)
	return b
}

// shown is the address of the picture that somebody's own page shows; empty: the one made from the id.
func (b *browser) shown() string {
	b.site.t.Helper()
	return b.page("/me", http.StatusOK).Find("h1 img.face").AttrOr("src", "")
}

func TestTheProvidersPictureIsShownFromTheSiteItself(t *testing.T) {
	s := startPictured(t)
	ada := s.came("ada", s.at+"/ada")
	eventually(t, "the picture is shown", func() bool { return ada.shown() != "" })
	address := ada.shown()
	if !strings.HasPrefix(address, "/users/") {
		t.Errorf("it comes from %s", address)
	}
	visitor := s.browser()
	resp := visitor.get(address)
	wantStatus(t, resp, http.StatusOK)
	small, kind, err := image.DecodeConfig(resp.Body)
	if err != nil || kind != "jpeg" || small.Width != 96 || small.Height != 96 || resp.ContentLength > 8<<10 {
		t.Errorf("%s of %d × %d in %d bytes, %v", kind, small.Width, small.Height, resp.ContentLength, err)
	}
	if got := resp.Header.Get("Cache-Control"); got != "private, max-age=31536000, immutable" {
		t.Errorf("it is kept: %s", got)
	}
	person, _, _ := strings.Cut(address, "/picture/")
	if got := visitor.page(person, http.StatusOK).Find("h1 img.face").AttrOr("src", ""); got != address {
		t.Errorf("visitors see %q", got)
	}

	t.Run("its person removes it, and has it back", func(t *testing.T) {
		doc := document(t, ada.post("/me/picture", url.Values{"picture": {"made"}}), http.StatusOK)
		checkSound(t, doc)
		wantText(t, doc, "main [role=status]", "is deleted")
		wantStatus(t, visitor.get(address), http.StatusNotFound)
		asked := s.asked.Load()
		s.mayFetchAgain(t)
		if again := s.came("ada", s.at+"/ada"); again.shown() != "" {
			t.Error("signing in brought it back")
		}
		ada.post("/me/picture", url.Values{"picture": {"provider"}})
		eventually(t, "it is shown again", func() bool { return ada.shown() != "" })
		if n := s.asked.Load() - asked; n != 1 {
			t.Errorf("the provider was asked %d times, want once", n)
		}
	})
	t.Run("the provider is not asked at will", func(t *testing.T) {
		asked := s.asked.Load()
		for range 3 {
			ada.post("/me/picture", url.Values{"picture": {"provider"}})
		}
		s.came("bob", s.at+"/bob") // fetched after what was wanted before
		eventually(t, "another picture was asked for", func() bool { return s.asked.Load() > asked })
		if n := s.asked.Load() - asked; n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
	t.Run("an admin removes it", func(t *testing.T) {
		s.mayFetchAgain(t)
		cora := s.came("cora", s.at+"/cora")
		eventually(t, "it is shown", func() bool { return cora.shown() != "" })
		of, _, _ := strings.Cut(cora.shown(), "/picture/")
		wantStatus(t, ada.post(of+"/picture/remove", nil), http.StatusForbidden)
		boss := s.came("boss", "")
		if boss.page(of, http.StatusOK).Find("form[action$='/picture/remove']").Length() != 1 {
			t.Error("admins have no button for it")
		}
		document(t, boss.post(of+"/picture/remove", nil), http.StatusOK)
		if cora.shown() != "" {
			t.Error("it is still shown")
		}
		wantText(t, boss.page("/audit", http.StatusOK), "[data-act='remove picture']", "boss")
	})
	t.Run("the provider has none any more", func(t *testing.T) {
		s.mayFetchAgain(t)
		before := s.came("dora", s.at+"/dora")
		eventually(t, "it is shown", func() bool { return before.shown() != "" })
		dora := s.came("dora", "")
		if dora.shown() != "" {
			t.Error("the old one is still shown")
		}
		wantText(t, dora.page("/me", http.StatusOK), "[aria-labelledby=picture]", "has none")
	})
}

// mayFetchAgain forgets when pictures were tried.
func (s *pictured) mayFetchAgain(t *testing.T) {
	t.Helper()
	if _, err := s.site.Store.SQL().ExecContext(t.Context(), "update users set picture_tried_at = null"); err != nil {
		t.Fatal(err)
	}
}

func TestSigningInWaitsForNoPictureAndNeedsNone(t *testing.T) {
	s := startPictured(t)
	for _, login := range []string{"ada", "bob"} { // as many as are fetched at once
		slow := s.came(login, s.at+"/slow")
		if slow.shown() != "" {
			t.Error("a picture is shown before it came")
		}
	}
	for name, picture := range map[string]string{"gone": s.at + "/gone", "plain": "http://127.0.0.1:1/", "local": "https://[::1]/", "script": "javascript:alert(1)"} {
		b := s.came(name, picture)
		wantText(t, b.page("/me", http.StatusOK), "[aria-labelledby=picture]", "Made from your account’s number")
	}
	s.release()
	s.came("last", s.at+"/last")
	last := s.came("last", s.at+"/last")
	eventually(t, "the last picture came", func() bool { return last.shown() != "" })
	gone := s.came("gone", s.at+"/gone")
	if gone.shown() != "" || gone.page("/me", http.StatusOK).Find("h1 svg.face").Length() != 1 {
		t.Error("a picture that is missing at the provider is not replaced by the made one")
	}
}
