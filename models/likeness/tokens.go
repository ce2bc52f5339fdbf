package likeness

import (
	"bytes"
	"cmp"
	"strings"
	"text/scanner"
)

// Classes of tokens. Each punctuation character is its own class; the class of a keyword is its index in keywords.
const (
	tokenIdentifier   = 'a'
	tokenNumber       = '0'
	firstKeywordToken = 0x80
)

// keywords are words that show the structure of a kernel independently of its names: keywords of the languages, and
// common identifiers of CUDA, torch, and Triton. Common variable names are not included.
const keywords = `if else for while do switch case break continue return goto def class lambda import from as with in not and or is
	pass raise try except yield const constexpr static inline extern template typename struct union enum using namespace auto void
	bool char short int long unsigned float double half sizeof operator new delete this
	__global__ __device__ __host__ __shared__ __constant__ __restrict__ __syncthreads __syncwarp __ldg __launch_bounds__
	threadIdx blockIdx blockDim gridDim float2 float4 atomicAdd __shfl_down_sync __shfl_xor_sync
	torch triton tl jit program_id empty_like`

func keywordClasses() map[string]byte {
	of := map[string]byte{}
	for i, word := range strings.Fields(keywords) {
		of[word] = firstKeywordToken + byte(i)
	}
	return of
}

// tokens returns the class of each token, one byte per token. It omits blanks, comments, quotes, and the rest of a line
// after # (Python comments, and a few C++ directives). Texts in quotes count as source, because a Python submission has
// its CUDA kernel in one.
func (h Hasher) tokens(source []byte) (out []byte) {
	var s scanner.Scanner
	s.Init(bytes.NewReader(source))
	s.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanComments | scanner.SkipComments
	s.Error = func(*scanner.Scanner, string) {} // the source need not be valid
	for token := s.Scan(); token != scanner.EOF; token = s.Scan() {
		switch token {
		case '"', '\'':
		case scanner.Int, scanner.Float:
			out = append(out, tokenNumber)
		case scanner.Ident:
			out = append(out, cmp.Or(h.keywordClasses[s.TokenText()], tokenIdentifier))
		case '#':
			if s.Offset == 0 || bytes.IndexByte([]byte(" \t\n\"'"), source[s.Offset-1]) >= 0 {
				for c := s.Peek(); c != '\n' && c != scanner.EOF; c = s.Peek() {
					s.Next()
				}
				continue
			}
			out = append(out, '#')
		default:
			out = append(out, byte(token))
		}
	}
	return out
}
