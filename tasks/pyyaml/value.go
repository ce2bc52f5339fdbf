package pyyaml

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// KernelBot reads its files with PyYAML, which follows YAML 1.1, and writes the values of cases with str() of Python.
// The patterns below are the rules of PyYAML for unquoted values: `yes` is a boolean, `012` is octal, `1:30` is 90, and
// `1e5` (no dot) is text. The tags of the Go library follow YAML 1.2 and are ignored: only node.Value, the text in the
// file, is used.
var (
	nullPattern  = regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)
	truePattern  = regexp.MustCompile(`^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$`)
	falsePattern = regexp.MustCompile(`^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$`)
	intPattern   = regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	floatPattern = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// maxNumber limits the characters of a number; Python itself stops at 4300 digits.
const maxNumber = 100

// ScalarValue is a scalar as PyYAML interprets it.
type ScalarValue struct {
	Text   string // text that Python's str() returns
	IsText bool   // true if Python reads a string
	IsInt  bool
	IsBool bool
	IsNull bool
}

// InterpretScalar interprets a scalar node as PyYAML does.
func InterpretScalar(node *yaml.Node) ScalarValue {
	if isQuoted(node) {
		return ScalarValue{Text: node.Value, IsText: true}
	}
	return InterpretUnquoted(node.Value)
}

// isQuoted reports whether a scalar is text because of its quotes or its tag.
func isQuoted(node *yaml.Node) bool {
	if node.Style&yaml.TaggedStyle != 0 {
		return node.Tag == "!!str"
	}
	return node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// InterpretUnquoted interprets an unquoted value.
func InterpretUnquoted(s string) ScalarValue {
	switch {
	case nullPattern.MatchString(s):
		return ScalarValue{Text: "None", IsNull: true}
	case truePattern.MatchString(s):
		return ScalarValue{Text: "True", IsBool: true}
	case falsePattern.MatchString(s):
		return ScalarValue{Text: "False", IsBool: true}
	// A long number stays text, because converting it takes quadratic time.
	case len(s) > maxNumber:
		return ScalarValue{Text: s, IsText: true}
	case intPattern.MatchString(s):
		return ScalarValue{Text: integerText(s), IsInt: true}
	case floatPattern.MatchString(s):
		return ScalarValue{Text: floatToRepr(s)}
	default:
		return ScalarValue{Text: s, IsText: true}
	}
}

// IsNull reports whether a node is null, in any spelling of PyYAML.
func IsNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && InterpretScalar(node).IsNull
}

// integerText returns s, which matches intPattern, as a decimal number.
func integerText(s string) string {
	digits, negative := splitSign(s)
	n, ok := new(big.Int), true
	switch {
	case strings.Contains(digits, ":"):
		for part := range strings.SplitSeq(digits, ":") {
			value, _ := new(big.Int).SetString(part, 10)
			n.Mul(n, big.NewInt(60)).Add(n, value)
		}
	case strings.HasPrefix(digits, "0b"):
		_, ok = n.SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		_, ok = n.SetString(digits[2:], 16)
	case len(digits) > 1 && digits[0] == '0':
		_, ok = n.SetString(digits[1:], 8)
	default:
		_, ok = n.SetString(digits, 10)
	}
	if !ok { // only separators, as in "0b_"
		return s
	}
	if negative {
		n.Neg(n)
	}
	return n.String()
}

// splitSign splits s into sign and digits. The patterns allow at most one sign.
func splitSign(s string) (digits string, negative bool) {
	digits = strings.ToLower(strings.ReplaceAll(s, "_", ""))
	negative = strings.HasPrefix(digits, "-")
	return strings.TrimLeft(digits, "+-"), negative
}

// floatToRepr returns the float in s, which matches floatPattern, as repr of Python writes it.
func floatToRepr(s string) string {
	digits, negative := splitSign(s)
	var f float64
	switch {
	case digits == ".inf":
		f = math.Inf(1)
	case digits == ".nan":
		f = math.NaN()
	default:
		for part := range strings.SplitSeq(digits, ":") {
			value, _ := strconv.ParseFloat(part, 64)
			f = f*60 + value
		}
	}
	if negative {
		f = -f
	}
	return floatRepr(f)
}

// floatRepr formats f as repr of Python does: the shortest digits that are read back as the same number, an exponent of
// at least two digits below 1e-4 and from 1e16 on, and always a dot or an exponent.
func floatRepr(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	exponent, _ := strconv.Atoi(scientific[strings.IndexByte(scientific, 'e')+1:])
	if exponent < -4 || exponent >= 16 {
		return scientific
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// PythonText returns a scalar, or a list of scalars, as str() of Python writes it. ok is false for mappings, which the
// line of a case cannot contain.
func PythonText(node *yaml.Node) (text string, ok bool) {
	switch node.Kind {
	case yaml.ScalarNode:
		return InterpretScalar(node).Text, true
	case yaml.SequenceNode:
		return pythonRepr(node)
	default:
		return "", false
	}
}

// PythonLiteral is PythonText for programs that parse Python literals: a quoted text that looks like another literal is
// put in quotes. Whole numbers stay numbers, as for the programs of KernelBot.
func PythonLiteral(node *yaml.Node) (text string, ok bool) {
	if node.Kind == yaml.ScalarNode && isQuoted(node) && looksLikeLiteral(node.Value) {
		return quotePython(node.Value), true
	}
	return PythonText(node)
}

// looksLikeLiteral reports whether Python may parse a text as another literal: 1e3, None, (1, 2), 'a'. Whole numbers
// are excluded.
func looksLikeLiteral(text string) bool { return literalPattern.MatchString(text) }

var literalPattern = regexp.MustCompile(`^(?:True|False|None|[bBrRuU]{0,2}['"].*|[\[({].*|[-+]*(?:` +
	`0[xXoObB][0-9a-fA-F_]+|[0-9]+_[0-9_]+|[0-9._]*[jJ]|` +
	`(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9_]+)?[jJ]?|[0-9][0-9_]*[eE][-+]?[0-9_]+[jJ]?))$`)

// pythonRepr is PythonText with strings in quotes, as inside a list.
func pythonRepr(node *yaml.Node) (text string, ok bool) {
	switch node.Kind {
	case yaml.ScalarNode:
		value := InterpretScalar(node)
		if value.IsText {
			return quotePython(value.Text), true
		}
		return value.Text, true
	case yaml.SequenceNode:
		parts := make([]string, len(node.Content))
		for i, item := range node.Content {
			if parts[i], ok = pythonRepr(item); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	default:
		return "", false
	}
}

func quotePython(s string) string {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	var b strings.Builder
	b.WriteRune(mark)
	for _, c := range s {
		b.WriteString(escapeRune(c, mark))
	}
	b.WriteRune(mark)
	return b.String()
}

func escapeRune(c, quote rune) string {
	switch {
	case c == quote || c == '\\':
		return `\` + string(c)
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	// Go and Python follow different Unicode versions: a letter that is new in one of them is escaped.
	case unicode.IsPrint(c):
		return string(c)
	case c < 0x100:
		return fmt.Sprintf(`\x%02x`, c)
	case c < 0x10000:
		return fmt.Sprintf(`\u%04x`, c)
	default:
		return fmt.Sprintf(`\U%08x`, c)
	}
}
