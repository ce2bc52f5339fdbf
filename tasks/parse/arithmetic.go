package parse

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Expression computes a value. It returns an error for a name unknown to lookup, and for a division by zero.
type Expression func(lookup func(name string) (float64, error)) (float64, error)

type lookupName = func(string) (float64, error)

func binaryExpression(operator string, left, right Expression) Expression {
	return func(l lookupName) (float64, error) {
		a, err := left(l)
		if err != nil {
			return 0, err
		}
		b, err := right(l)
		switch {
		case err != nil:
			return 0, err
		case operator == "+":
			return a + b, nil
		case operator == "-":
			return a - b, nil
		case operator == "*":
			return a * b, nil
		case operator == "**":
			return math.Pow(a, b), nil
		case b == 0:
			return 0, errors.New("division by zero")
		}
		return a / b, nil
	}
}

func constantExpression(value float64) Expression {
	return func(lookupName) (float64, error) { return value, nil }
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

const (
	maxExpression = 1000 // limits the length of an expression in bytes
	maxNesting    = 50   // limits nested parentheses, signs, and powers
)

// ParseArithmetic parses an arithmetic expression. Its errors contain the position.
func ParseArithmetic(text string) (Expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("is longer than %d bytes", maxExpression)
	}
	p := &parser{text: text}
	e, err := p.parseSum()
	if err != nil {
		return nil, err
	}
	if p.skipSpaces(); p.offset < len(text) {
		return nil, p.unexpectedError()
	}
	return e, nil
}

type parser struct {
	text         string
	offset       int
	nestingDepth int
}

func (p *parser) parseSum() (Expression, error) { return p.parseChain(p.parseProduct, "+", "-") }

func (p *parser) parseProduct() (Expression, error) { return p.parseChain(p.parseSigned, "*", "/") }

// parseChain parses operands between left-associative operators.
func (p *parser) parseChain(operand func() (Expression, error), operators ...string) (Expression, error) {
	left, err := operand()
	for err == nil {
		operator := p.takeOperator(operators...)
		if operator == "" {
			return left, nil
		}
		var right Expression
		right, err = operand()
		left = binaryExpression(operator, left, right)
	}
	return nil, err
}

func (p *parser) parseSigned() (Expression, error) {
	if p.nestingDepth++; p.nestingDepth > maxNesting {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxNesting)
	}
	defer func() { p.nestingDepth-- }()
	switch p.takeOperator("+", "-") {
	case "+":
		return p.parseSigned()
	case "-":
		e, err := p.parseSigned()
		return binaryExpression("-", constantExpression(0), e), err
	}
	base, err := p.parseAtom()
	if err != nil || p.takeOperator("**") == "" {
		return base, err
	}
	exponent, err := p.parseSigned()
	return binaryExpression("**", base, exponent), err
}

func (p *parser) parseAtom() (Expression, error) {
	if p.takeOperator("(") != "" {
		e, err := p.parseSum()
		if err == nil && p.takeOperator(")") == "" {
			return nil, fmt.Errorf("a parenthesis is not closed")
		}
		return e, err
	}
	p.skipSpaces()
	start := p.offset
	for p.offset < len(p.text) && isWordByte(p.text[p.offset]) {
		p.offset++
	}
	word := p.text[start:p.offset]
	if identifierPattern.MatchString(word) {
		return func(l lookupName) (float64, error) { return l(word) }, nil
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	if word == "" || err != nil {
		p.offset = start
		return nil, p.unexpectedError()
	}
	return constantExpression(value), nil
}

func isWordByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// takeOperator consumes the next operator if it is one of operators; * never matches the first half of **.
func (p *parser) takeOperator(operators ...string) string {
	p.skipSpaces()
	for _, operator := range operators {
		rest := p.text[p.offset:]
		if strings.HasPrefix(rest, operator) && !(operator == "*" && strings.HasPrefix(rest, "**")) {
			p.offset += len(operator)
			return operator
		}
	}
	return ""
}

func (p *parser) skipSpaces() {
	for p.offset < len(p.text) && strings.IndexByte(" \t\n", p.text[p.offset]) >= 0 {
		p.offset++
	}
}

func (p *parser) unexpectedError() error {
	if p.offset >= len(p.text) {
		return fmt.Errorf("ends where a number or a name is expected")
	}
	return fmt.Errorf("%q at character %d is not expected", p.text[p.offset], p.offset+1)
}
