package likeness

import (
	"bytes"
	"strings"
)

// Classes of tokens. Punctuation is its own class, and a keyword's class is the byte of its position in keywords.
const (
	identifier   = 'a'
	number       = '0'
	firstKeyword = 0x80
)

// keywords are words that show a kernel's structure, whatever its names: those of the languages, and common ones of
// CUDA, torch, and Triton. They include no usual names of variables.
const keywords = `if else for while do switch case break continue return goto def class lambda import from as with in not and or is
	pass raise try except yield const constexpr static inline extern template typename struct union enum using namespace auto void
	bool char short int long unsigned float double half sizeof operator new delete this
	__global__ __device__ __host__ __shared__ __constant__ __restrict__ __syncthreads __syncwarp __ldg __launch_bounds__
	threadIdx blockIdx blockDim gridDim float2 float4 atomicAdd __shfl_down_sync __shfl_xor_sync
	torch triton tl jit program_id empty_like`

func classes() map[string]byte {
	of := map[string]byte{}
	for i, word := range strings.Fields(keywords) {
		of[word] = firstKeyword + byte(i)
	}
	return of
}

// classOf returns the class of a word.
func (h Hasher) classOf(word []byte) byte {
	if class, known := h.classes[string(word)]; known {
		return class
	}
	return identifier
}

// tokens returns one byte per token. It omits blanks, comments, quotes, and lines that begin with #, which are comments
// in Python and a few common directives in C++. The text of strings counts as source, because a Python submission has
// its CUDA kernel in one.
func (h Hasher) tokens(source []byte) []byte {
	var out []byte
	for i, lineStart := 0, true; i < len(source); {
		c := source[i]
		switch {
		case c == '\n':
			lineStart = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\'':
			i++
			continue
		case c == '#' && (lineStart || i > 0 && source[i-1] == ' ') || bytes.HasPrefix(source[i:], []byte("//")):
			i += lengthBefore(source[i:], "\n")
			continue
		case bytes.HasPrefix(source[i:], []byte("/*")):
			i += lengthBefore(source[i:], "*/") + len("*/")
			continue
		case c >= '0' && c <= '9':
			out = append(out, number)
			i += word(source[i:])
		case wordByte(c):
			n := word(source[i:])
			out = append(out, h.classOf(source[i:i+n]))
			i += n
		default:
			out = append(out, c)
			i++
		}
		lineStart = false
	}
	return out
}

// lengthBefore returns the number of bytes before the end mark, or of all.
func lengthBefore(source []byte, end string) int {
	if n := bytes.Index(source, []byte(end)); n >= 0 {
		return n
	}
	return len(source)
}

// word returns the length of the word or number at the beginning of the source.
func word(source []byte) int {
	n := 1
	for n < len(source) && wordByte(source[n]) {
		n++
	}
	return n
}

// wordByte reports whether a byte is part of a word; bytes of non-ASCII letters are.
func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
