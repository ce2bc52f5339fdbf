package boards_test

import (
	"os"
	"testing"

	"warpboard/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }
