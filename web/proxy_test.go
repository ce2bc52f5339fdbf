package web_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

// documentedProxy returns a configuration for nginx or Caddy from docs/proxy.md: number 0 for a separate host, 1 for a
// path. replace has pairs of old and new texts, such as addresses.
func documentedProxy(t *testing.T, language string, number int, replace ...string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(read(t, "../docs/proxy.md"), -1)
	if len(found) != 2 {
		t.Fatalf("docs/proxy.md has %d configurations of %s", len(found), language)
	}
	return strings.NewReplacer(replace...).Replace(found[number][1])
}

// proxyBefore starts nginx or Caddy in front of the site, as documented. It returns a client that reaches the URL home
// through the proxy: https://boards.example.org or https://lab.example.org/warpboard.
func proxyBefore(s *webtest.Site, t *testing.T, program, home string) *http.Client {
	t.Helper()
	client, _, _ := startProxyBefore(s, t, program, home)
	return client
}

// startProxyBefore does what proxyBefore does. It also returns the proxy's address and its certificate file, which is
// valid for 127.0.0.1.
func startProxyBefore(s *webtest.Site, t *testing.T, program, home string) (client *http.Client, address, cert string) {
	t.Helper()
	u, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	if u.Path != "" {
		number = 1
	}
	pair := httptest.NewUnstartedServer(nil)
	pair.StartTLS()
	defer pair.Close()
	cert, key := pairFiles(t, pair.TLS.Certificates[0])
	dir, upstream := t.TempDir(), strings.TrimPrefix(s.URL, "http://")
	address = sandboxtest.Addr(t)
	if program == "nginx" {
		text := documentedProxy(t, "nginx", number, "listen 443", "listen "+address, "/etc/ssl/boards.pem", cert,
			"/etc/ssl/boards.key", key, "127.0.0.1:3000", upstream)
		if number == 1 {
			text = fmt.Sprintf(
				"server { listen %s ssl; server_name %s; ssl_certificate %s; ssl_certificate_key %s; location / { return 200 another; }\n%s}\n", address, u.Host, cert, key, text)
		}
		head := "daemon off; user root; pid pid; error_log stderr; events {}\nhttp { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n"
		file := writeFile(t, dir, "nginx.conf", head+text+"}\n")
		return startProxy(t, exec.Command(debianTool(t, "nginx"), "-p", dir, "-c", file), address, home), address, cert
	}
	_, port, _ := net.SplitHostPort(address)
	text := documentedProxy(t, "caddy", number, u.Host+" {", "https://"+u.Host+":"+port+" {\n\tbind 127.0.0.1\n\ttls "+
		cert+" "+key, "127.0.0.1:3000", upstream)
	file := writeFile(t, dir, "Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+text)
	cmd := exec.Command(debianTool(t, "caddy"), "run", "--adapter", "caddyfile", "--config", file)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return startProxy(t, cmd, address, home), address, cert
}

// TestTheSiteWorksBehindTheDocumentedProxies loads pages, streams, and large bodies through nginx and Caddy, configured
// as in docs/proxy.md, for a separate host and for a path.
func TestTheSiteWorksBehindTheDocumentedProxies(t *testing.T) {
	for _, home := range []string{"https://boards.example.org", "https://lab.example.org/warpboard"} {
		s := webtest.Start(t, func(c *web.Config) { c.BaseURL = home })
		for _, program := range []string{"nginx", "caddy"} {
			t.Run(program+" "+home, func(t *testing.T) { worksThrough(s, t, proxyBefore(s, t, program, home), home) })
		}
	}
}

func pairFiles(t *testing.T, pair tls.Certificate) (cert, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return writeFile(t, dir, "cert.pem",
			string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))),
		writeFile(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// startProxy runs a proxy until the end of the test. It returns a client that connects to address for every host name.
func startProxy(t *testing.T, cmd *exec.Cmd, address, home string) *http.Client {
	t.Helper()
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("output of the proxy: %s", tier.KeepLog(t, printed.String()))
		}
	})
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	// the certificate has another host name
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	tier.WaitFor(t, "the proxy", func() error {
		resp, err := client.Get(home + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err
	})
	return client
}

func worksThrough(s *webtest.Site, t *testing.T, client *http.Client, home string) {
	t.Helper()
	resp, err := client.Get(home + "/")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()

	ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, home+"/devices/events", nil)
	stream, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("the stream does not begin: %q, %v", line, err)
	}
	s.Cfg.Hub.QueueChanged()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("an event does not come through: %v", err)
		}
		if strings.HasPrefix(line, "event:") || strings.HasPrefix(line, "data:") {
			break
		}
	}

	token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(),
		modelstest.Person(t, s.Cfg.Store, t.Name(), accounts.RoleCreator).ID, "proxy", 0)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 31<<20)
	rand.Read(large)
	upload, _ := http.NewRequest(http.MethodPost, home+"/api/v1/tasks/large?dry_run=1", bytes.NewReader(large))
	upload.Header.Set("Authorization", "Bearer "+token)
	resp, err = client.Do(upload)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusUnprocessableEntity ||
		!strings.HasPrefix(kind, "application/problem+json") {
		t.Errorf("a large body is answered by %s, %s", resp.Status, kind)
	}
}
