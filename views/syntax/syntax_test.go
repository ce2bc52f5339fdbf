package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/costtest"
	"warpboard/e2e/fuzztest"
)

// marked writes each token that has a class as <class token>.
func marked(l *Language, text string) string {
	var b strings.Builder
	for class, token := range l.Tokens(text) {
		if class == PlainToken {
			b.WriteString(token)
		} else {
			b.WriteString("<" + string(class) + " " + token + ">")
		}
	}
	return b.String()
}

func TestTokensOfEachLanguage(t *testing.T) {
	languages := NewLanguages()
	for _, c := range []struct{ name, text, want string }{
		{"a.cu", "#include <x.h>\n  # define A 1 // c\nb #c",
			"<cp #include> <s <x.h>>\n  <cp # define> A <m 1> <c // c>\nb #c"},
		{"a.cu", "__global__ void f(int n) { return g(n); }",
			"<k __global__> <kt void> <nf f>(<kt int> n) { <k return> g(n); }"},
		{"a.h", `u8"a\"b" 'c' L'd' "open` + "\n1'000u .5e-3f 0x1p+2 0xe+1", `<s u8"a\"b"> <s 'c'> <s L'd'> <s "open>` +
			"\n<m 1'000u> <m .5e-3f> <m 0x1p+2> <m 0xe>+<m 1>"},
		{"a.cc", "R\"x(a)\" b)x\" /* c\n */ d /* e", "<s R\"x(a)\" b)x\"> <c /* c\n */> d <c /* e>"},
		{"a.cc", `R"no parenthesis near`, `<s R">no parenthesis near`},
		{"a.py", "@a.b\ndef f(x): # c\n    '''d\n  '''", "<nd @a.b>\n<k def> <nf f>(x): <c # c>\n    <s '''d\n  '''>"},
		{"a.py", "return len(rb'x') if a @ b else f\"{c}\"",
			"<k return> <nb len>(<s rb'x'>) <k if> a @ b <k else> <s f\"{c}\">"},
		{"task.yml", "a: true # c\nb: 'd'", "a: <k true> <c # c>\nb: <s 'd'>"},
		{"a.json", `{"a": [1, null]} # b`, `{<s "a">: [<m 1>, <k null>]} # b`},
		{"Makefile", "a: # b", "a: <c # b>"},
		{"a.txt", "if 'a' # 1", "if 'a' # 1"},
	} {
		if diff := cmp.Diff(c.want, marked(languages.LanguageOfFile(c.name), c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// languageNames are names of one file in each language.
var languageNames = []string{"a.cu", "a.py", "a.yml", "a.json", "a.txt"}

// size is the maximum size of a highlighted text, in bytes.
const size = 256 << 10

func TestNoTextCostsMoreThanARequestMay(t *testing.T) {
	languages := NewLanguages()
	for _, part := range []string{"a b()}", "a b(", "a ", "(", "{", "/*", "\"", "'''", "R\"(", "R\"a", "#include <",
		"# ", "@", "\\", "1'", "1e+", "\n", "é", "\x00", "a"} {
		text := strings.Repeat(part, size/len(part))
		costtest.Check(t, part, func() {
			for _, name := range languageNames {
				for range languages.LanguageOfFile(name).Tokens(text) {
				}
			}
		})
	}
}

func FuzzTokens(f *testing.F) {
	fuzztest.Moment(f)
	languages := NewLanguages()
	f.Add("a b()}")
	f.Add("R\"x(a)x\" /* b */ '''c''' #include <d> @e 1.5e-3 u8'f'")
	f.Fuzz(func(t *testing.T, part string) {
		for _, name := range languageNames {
			var all strings.Builder
			for _, token := range languages.LanguageOfFile(name).Tokens(part) {
				if token == "" {
					t.Fatalf("%s: an empty token", name)
				}
				all.WriteString(token)
			}
			if all.String() != part {
				t.Errorf("%s: the tokens are not the text", name)
			}
			if part == "" {
				continue
			}
			text := strings.Repeat(part, size/len(part))
			costtest.Check(t, name, func() {
				for range languages.LanguageOfFile(name).Tokens(text) {
				}
			})
		}
	})
}
