package picture

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"warpboard/models"
	"warpboard/models/db"
	"warpboard/publicnet"
)

const (
	answerIn = 5 * time.Second // for a whole answer, with its redirects
	mostData = 256 << 10
	mostHops = 3
	atOnce   = 2
	// mostWaiting people; more are fetched at their next sign-in.
	mostWaiting = 256
	// pause between two requests for one person: who chooses the address must not have the site ask there at will.
	pause = time.Minute
)

// Config is what a Fetcher is made of.
type Config struct {
	Store   *models.Store
	Allowed []netip.Prefix // networks that may be asked although they are not public: for tests, whose servers are on this machine
	Roots   *x509.CertPool // whose certificates are believed; nil: the system's
	Version string
	Log     *slog.Logger
}

// Fetcher fetches pictures, of a few people at once.
type Fetcher struct {
	Config
	client  *http.Client
	wanted  chan int64
	drawing sync.Mutex // one is decoded at a time
}

// New makes a Fetcher; Run starts it.
func New(cfg Config) *Fetcher {
	client := publicnet.Client(answerIn, cfg.Allowed, cfg.Roots)
	client.CheckRedirect = mayFollow
	return &Fetcher{Config: cfg, wanted: make(chan int64, mostWaiting), client: client}
}

func mayFollow(next *http.Request, before []*http.Request) error {
	next.Header.Del("Referer")
	switch {
	case next.URL.Scheme != "https":
		return errNotHTTPS
	case len(before) > mostHops:
		return fmt.Errorf("more than %d redirects", mostHops)
	}
	return nil
}

var errNotHTTPS = errors.New("its address does not begin with https://")

// Want has a person's picture fetched soon, and waits for nothing.
func (f *Fetcher) Want(userID int64) {
	select {
	case f.wanted <- userID:
	default:
	}
}

// Run fetches what is wanted until ctx ends.
func (f *Fetcher) Run(ctx context.Context) error {
	var fetching sync.WaitGroup
	for range atOnce {
		fetching.Go(func() {
			for {
				select {
				case id := <-f.wanted:
					if err := f.fetch(ctx, id); err != nil && ctx.Err() == nil {
						f.Log.Info("a picture was not taken over; the one made from the id is shown", "person", id, "err", err)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	fetching.Wait()
	return nil
}

// fetch gets one person's picture, if it is time for that.
func (f *Fetcher) fetch(ctx context.Context, userID int64) error {
	address, err := f.Store.Accounts.ClaimPicture(ctx, userID, pause)
	if db.KindOf(err) == db.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := f.get(ctx, address)
	if err != nil {
		return err
	}
	if data, err = f.draw(data); err != nil {
		return err
	}
	return f.Store.Accounts.KeepPicture(ctx, userID, address, data)
}

func (f *Fetcher) draw(data []byte) ([]byte, error) {
	f.drawing.Lock()
	defer f.drawing.Unlock()
	return redraw(data)
}

func (f *Fetcher) get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	if request.URL.Scheme != "https" {
		return nil, errNotHTTPS
	}
	request.Header.Set("Accept", "image/webp,image/png,image/jpeg,image/gif")
	request.Header.Set("User-Agent", "Warpboard/"+f.Version)
	response, err := f.client.Do(request)
	if err != nil {
		var wrapped *url.Error
		errors.As(err, &wrapped) // holds the address, which is nothing for a log
		return nil, wrapped.Err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the provider answered %s", response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, mostData+1))
	if err == nil && len(data) > mostData {
		err = fmt.Errorf("it is larger than %d kB", mostData>>10)
	}
	return data, err
}
