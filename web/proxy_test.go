package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/models"
	"warpboard/models/modelstest"
)

// documentedProxy is a configuration in docs/proxy.md, with this machine's addresses in it.
func documentedProxy(t *testing.T, language string, replace ...string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(read(t, "../docs/proxy.md"))
	if found == nil {
		t.Fatalf("docs/proxy.md has no %s", language)
	}
	return strings.NewReplacer(replace...).Replace(found[1])
}

// TestTheSiteWorksBehindTheDocumentedProxies: pages, streams and large bodies, through nginx and Caddy as docs/proxy.md has
// them.
func TestTheSiteWorksBehindTheDocumentedProxies(t *testing.T) {
	s := startSite(t)
	upstream := strings.TrimPrefix(s.url, "http://")
	pair := httptest.NewUnstartedServer(nil)
	pair.StartTLS()
	defer pair.Close()
	cert, key := pairFiles(t, pair.TLS.Certificates[0])
	for name, proxy := range map[string]func(t *testing.T, address, dir string) *exec.Cmd{
		"nginx": func(t *testing.T, address, dir string) *exec.Cmd {
			text := documentedProxy(t, "nginx", "listen 443", "listen "+address, "/etc/ssl/boards.pem", cert, "/etc/ssl/boards.key", key, "127.0.0.1:3000", upstream)
			head := "daemon off; user root; pid pid; error_log stderr; events {}\nhttp { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n"
			file := writeFile(t, dir, "nginx.conf", head+text+"}\n")
			return exec.Command(debianTool(t, "nginx"), "-p", dir, "-c", file)
		},
		"caddy": func(t *testing.T, address, dir string) *exec.Cmd {
			_, port, _ := net.SplitHostPort(address)
			text := documentedProxy(t, "caddy", "boards.example.org {", "https://boards.example.org:"+port+" {\n\tbind 127.0.0.1\n\ttls "+cert+" "+key, "127.0.0.1:3000", upstream)
			file := writeFile(t, dir, "Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+text)
			cmd := exec.Command(debianTool(t, "caddy"), "run", "--adapter", "caddyfile", "--config", file)
			cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			return cmd
		},
	} {
		t.Run(name, func(t *testing.T) {
			address := sandboxtest.Addr(t)
			client := startProxy(t, proxy(t, address, t.TempDir()), address)
			s.worksThrough(t, client)
		})
	}
}

func pairFiles(t *testing.T, pair tls.Certificate) (cert, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return writeFile(t, dir, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))),
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

// startProxy runs a proxy until the end of the test, and returns a client that speaks to it whatever the name.
func startProxy(t *testing.T, cmd *exec.Cmd, address string) *http.Client {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // its name is another
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	for deadline := time.Now().Add(20 * time.Second); ; {
		resp, err := client.Get("https://boards.example.org/healthz")
		if err == nil {
			resp.Body.Close()
			return client
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (s *testSite) worksThrough(t *testing.T, client *http.Client) {
	t.Helper()
	resp, err := client.Get("https://boards.example.org/")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://boards.example.org/devices/events", nil)
	stream, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("the stream does not begin: %q, %v", line, err)
	}
	s.Hub.QueueChanged()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("an event does not come through: %v", err)
		}
		if strings.HasPrefix(line, "event:") || strings.HasPrefix(line, "data:") {
			break
		}
	}

	token, _, err := s.Store.CreateToken(t.Context(), modelstest.Person(t, s.Store, "Carla", models.RoleCreator).ID, "proxy", 0)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 31<<20)
	rand.Read(large)
	upload, _ := http.NewRequest(http.MethodPost, "https://boards.example.org/api/v1/tasks/large?dry_run=1", bytes.NewReader(large))
	upload.Header.Set("Authorization", "Bearer "+token)
	resp, err = client.Do(upload)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusUnprocessableEntity || !strings.HasPrefix(kind, "application/problem+json") {
		t.Errorf("a large body is answered by %s, %s", resp.Status, kind)
	}
}
