package webtest

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"

	"warpboard/web/browsertest"
)

// scratch is a directory for files that several tests of a package use.
var scratch string

// chromium is the browser of all tests of a package that need a real one.
var chromium browsertest.Browser

// Main runs a package's tests, with a directory for shared files, and one browser. It fails if they leave a goroutine.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "warpboard-web-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	code := m.Run()
	chromium.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(ownEnds()...); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// ownEnds are goroutines of libraries that run as long as the process, or end late.
func ownEnds() []goleak.Option {
	var options []goleak.Option
	for _, function := range []string{
		"github.com/dlclark/regexp2/v2.runClock",                // ends soon after the last search
		"gorm.io/gorm/internal/lru.NewLRU[...].func1",           // of prepared statements
		"github.com/valyala/fasthttp.(*workerPool).Start.func2", // looks every 10 s
		"github.com/valyala/fasthttp.updateServerDate.func1",    // forever
		"github.com/valyala/fasthttp/stackless.funcWorker",      // forever
	} {
		options = append(options, goleak.IgnoreAnyFunction(function))
	}
	return options
}
