package picture

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"warpboard/publicnet"
)

// gallery is a server of pictures on this machine, and a fetcher that may ask it.
func gallery(t *testing.T, pictures map[string]http.HandlerFunc) (*Fetcher, string) {
	t.Helper()
	mux := http.NewServeMux()
	for path, answer := range pictures {
		mux.HandleFunc(path, answer)
	}
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return New(Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Roots: roots}), server.URL
}

func sends(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }
}

func leads(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

// red is a picture of one colour.
func red(w, h int) *image.Paletted {
	return image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.RGBA{200, 30, 30, 255}})
}

func encoded(t *testing.T, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// webP is one pixel; Go has no encoder.
const webP = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

func TestAPictureIsDrawnAgainSmallAndSquare(t *testing.T) {
	oneWebP, err := base64.StdEncoding.DecodeString(webP)
	if err != nil {
		t.Fatal(err)
	}
	asJPEG := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, red(300, 200), nil) })
	comment := append([]byte{0xff, 0xfe, 0, 20}, "taken at 52.5,13.4"...)
	for name, data := range map[string][]byte{
		"png":                encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, red(40, 700)) }),
		"gif":                encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, red(8, 8), nil) }),
		"webp":               oneWebP,
		"jpeg with metadata": append(append(bytes.Clone(asJPEG[:2]), comment...), asJPEG[2:]...),
	} {
		t.Run(name, func(t *testing.T) {
			f, url := gallery(t, map[string]http.HandlerFunc{"/moved": leads("/it"), "/it": sends(data)})
			got, err := f.get(t.Context(), url+"/moved")
			if err == nil {
				got, err = f.draw(got)
			}
			if err != nil {
				t.Fatal(err)
			}
			drawn, kind, err := image.Decode(bytes.NewReader(got))
			if err != nil || kind != "jpeg" || drawn.Bounds() != image.Rect(0, 0, size, size) {
				t.Fatalf("%s, %v", kind, err)
			}
			if bytes.Contains(got, []byte("taken at")) {
				t.Error("metadata is kept")
			}
			if r, g, _, _ := drawn.At(size/2, size/2).RGBA(); name != "webp" && (r>>8 < 180 || g>>8 > 60) {
				t.Errorf("the middle is %d, %d: not red", r>>8, g>>8)
			}
		})
	}
}

func TestWhatIsNoSafePictureIsRefusedWithItsReason(t *testing.T) {
	huge := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, red(1, 1)) })
	binary.BigEndian.PutUint32(huge[16:], 60_000) // its header's width, and the checksum of that
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	slow := make(chan struct{})
	defer close(slow)
	f, url := gallery(t, map[string]http.HandlerFunc{
		"/large":  sends(make([]byte, mostData+1)),
		"/huge":   sends(huge),
		"/broken": sends([]byte("\x89PNG\r\n\x1a\nand no more")),
		"/page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte("<html>"))
		},
		"/svg":   sends([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)),
		"/plain": leads("http://127.0.0.1/"),
		"/local": leads("https://127.0.0.2/"),
		"/loop":  leads("/loop"),
		"/slow":  func(_ http.ResponseWriter, r *http.Request) { <-slow },
	})
	for address, want := range map[string]string{
		url + "/large": "larger than 256 kB", url + "/huge": "60000", url + "/broken": "reading its size", url + "/page": "text/html", url + "/svg": "text/",
		url + "/plain": "https://", url + "/local": "not a public one", url + "/loop": "redirects", url + "/none": "404", url + "/slow": "imeout",
		"http" + strings.TrimPrefix(url, "https"): "https://", "file:///etc/passwd": "https://", "://": "cannot be read",
		"https://169.254.169.254/": "not a public one", "https://[::1]/": "not a public one",
	} {
		f.client.Timeout = answerIn
		if strings.HasSuffix(address, "/slow") {
			f.client.Timeout = 50 * time.Millisecond
		}
		data, err := f.get(t.Context(), address)
		if err == nil {
			_, err = f.draw(data)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestNothingOnThisMachineIsAskedUnlessATestAllowsIt, as the site is configured.
func TestNothingOnThisMachineIsAskedUnlessATestAllowsIt(t *testing.T) {
	_, url := gallery(t, map[string]http.HandlerFunc{"/it": func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }})
	if _, err := New(Config{}).get(t.Context(), url+"/it"); !errors.Is(err, publicnet.ErrRefused) {
		t.Errorf("%v", err)
	}
}
