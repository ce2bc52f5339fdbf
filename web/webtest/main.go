package webtest

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"

	"warpboard/web/browsertest"
)

// scratch is a temporary directory for files that several tests of a package share.
var scratch string

// chromium is the browser that all tests of a package share.
var chromium browsertest.Browser

// Main runs the tests of a package with a shared directory and browser. It returns a nonzero exit code if they leave a
// goroutine running.
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

// ownEnds returns goroutines of libraries that the check for leaks ignores: they run until the process ends, or end
// late.
func ownEnds() []goleak.Option {
	var options []goleak.Option
	for _, function := range []string{
		"github.com/dlclark/regexp2/v2.runClock",                // ends soon after the last search
		"gorm.io/gorm/internal/lru.NewLRU[...].func1",           // cache of prepared statements
		"github.com/valyala/fasthttp.(*workerPool).Start.func2", // checks every 10 s whether it should end
		"github.com/valyala/fasthttp.updateServerDate.func1",    // never ends
		"github.com/valyala/fasthttp/stackless.funcWorker",      // never ends
	} {
		options = append(options, goleak.IgnoreAnyFunction(function))
	}
	return options
}
