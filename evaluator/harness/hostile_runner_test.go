package harness

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/harness/pairtest"
)

const oneCase = "seed: 1; size: 100; scale: 2.5; kind: plain\n"

// player lets a test act as the runner, and write anything to the judge.
type player struct {
	t       *testing.T
	channel *os.File
	page    []byte
}

func newPlayer(t *testing.T, e pairtest.Ends) *player {
	t.Helper()
	page, err := unix.Mmap(int(e.Page.Fd()), 0, pairtest.PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(page) })
	return &player{t, e.Runner, page}
}

// Offsets in the shared page: of its words, and of the answer's description.
const (
	wordRelease, wordQueued, wordDone, wordSize = 0, 64, 128, 192
	atNS, atAnswer                              = 136, 4096
)

func (p *player) word(at int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&p.page[at])) }

func (p *player) frame(kind, size uint32) {
	p.channel.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), size))
}

// call waits for the next CALL and returns its number.
func (p *player) call() uint32 {
	for {
		head := make([]byte, 8)
		if n, err := p.channel.Read(head); n != 8 || err != nil {
			return 0 // the judge has ended
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[4:]))
		for read := 0; read < len(body); {
			n, err := p.channel.Read(body[read:])
			if err != nil {
				return 0
			}
			read += n
		}
		if binary.LittleEndian.Uint32(head) == 2 {
			return binary.LittleEndian.Uint32(body)
		}
	}
}

// answer waits for the release of a call, and reports its end, in the order of a correct runner.
func (p *player) answer(number uint32, description []byte, ns float64) {
	p.word(wordQueued).Store(number)
	for p.word(wordRelease).Load() != number {
	}
	copy(p.page[atAnswer:], description)
	p.word(wordSize).Store(uint32(len(description)))
	binary.LittleEndian.PutUint64(p.page[atNS:], math.Float64bits(ns))
	p.word(wordDone).Store(number)
}

// array returns the description of an answer of one array with count elements: at an offset of a region, or if region
// is 0, with the elements as bytes.
func array(count uint64, region byte, offset uint64, bytes ...byte) []byte {
	d := binary.LittleEndian.AppendUint64([]byte{'A'}, count)
	d = append(d, region)
	if region > 0 {
		d = binary.LittleEndian.AppendUint64(d, offset)
	}
	return append(d, bytes...)
}

func chunk(bytes uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{'N'}, bytes) }

func TestTheJudgeBelievesNothingThatARunnerSays(t *testing.T) {
	judge := newScaled(t).program("judge")
	const outside = "refused: The answer cannot be read: it lies outside of every shared region."
	says := func(description []byte) func(*player) {
		return func(p *player) { p.frame(1, 0); p.answer(p.call(), description, 5) }
	}
	measures := func(ns float64) func(*player) {
		return func(p *player) { p.frame(1, 0); p.answer(p.call(), array(100, 1, 0), ns) }
	}
	tests := []struct {
		name string
		play func(*player)
		exit int
		line string
	}{
		{"leaves at once", func(p *player) {}, 115, ""},
		{"leaves when it is called", func(p *player) { p.frame(1, 0); p.call() }, 115, ""},
		{"leaves after queueing", func(p *player) { p.frame(1, 0); p.word(wordQueued).Store(p.call()) }, 115, ""},
		{"is ready with more to say", func(p *player) { p.frame(1, 4) }, 116,
			"refused: The submission's process wrote to the judge out of turn."},
		{"says something else", func(p *player) { p.frame(7, 0) }, 116,
			"refused: The submission's process wrote to the judge out of turn."},
		{"says half a word", func(p *player) { p.channel.Write([]byte{1}) }, 116,
			"refused: The submission's process wrote to the judge out of turn."},
		{"is ready twice", func(p *player) { p.frame(1, 0); p.call(); p.frame(1, 0); p.call() }, 116,
			"refused: The submission's process wrote to the judge out of turn."},
		{"has ended before the release", func(p *player) {
			p.frame(1, 0)
			number := p.call()
			p.word(wordDone).Store(number)
			p.word(wordQueued).Store(number)
			p.call()
		}, 116, "refused: The submission's process said that a call had ended before its input was there."},
		{"queues another call", func(p *player) { p.frame(1, 0); p.call(); p.word(wordQueued).Store(77); p.call() },
			116,
			"refused: The submission's process answered call 77 when call 1 was under way."},
		{"ends another call", func(p *player) {
			p.frame(1, 0)
			p.word(wordQueued).Store(p.call())
			p.word(wordDone).Store(1 << 31)
			p.call()
		}, 116, "refused: The submission's process answered call 2147483648 when call 1 was under way."},
		{"no time", measures(math.NaN()), 116, "refused: The submission's process measured a time that cannot be."},
		{"endless time", measures(math.Inf(1)), 116,
			"refused: The submission's process measured a time that cannot be."},
		{"time before time", measures(-1), 116, "refused: The submission's process measured a time that cannot be."},
		{"no description", says(nil), 116, "refused: The answer's description has a size that cannot be."},
		{"endless description", func(p *player) {
			p.frame(1, 0)
			number := p.call()
			p.word(wordQueued).Store(number)
			for p.word(wordRelease).Load() != number {
			}
			p.word(wordSize).Store(math.MaxUint32)
			p.word(wordDone).Store(number)
			p.call()
		}, 116, "refused: The answer's description has a size that cannot be."},
		{"unknown kind", says([]byte{'X'}), 116, "refused: The answer's description is not one."},
		{"cut short", says(array(1, 1, 0)[:12]), 116,
			"refused: The answer cannot be read: its description ends too early."},
		{"too long", says(array(1, 1, 0, 9)), 116,
			"refused: The answer cannot be read: its description goes on after its end."},
		{"region that is not there", says(array(1, 200, 0)), 116, outside},
		{"offset outside", says(array(1, 1, 1<<40)), 116, outside},
		{"offset that wraps", says(array(1, 1, math.MaxUint64-2)), 116, outside},
		{"end outside", says(array(1<<40, 1, 0)), 116, outside},
		{"size that wraps", says(array(1<<62, 1, 0)), 116, outside},
		{"more than the description has", says(array(1<<62, 0, 0)), 116, outside},
		{"long array in the description", says(array(100, 0, 0, make([]byte, 400)...)), 116,
			"refused: The answer cannot be read: an array in its description is too long."},
		{"wants all memory", says(chunk(math.MaxUint64)), 116,
			"refused: The answer needs more shared memory than there is."},
		{"wants memory without a size", says([]byte{'N'}), 116,
			"refused: The answer needs more shared memory than there is."},
		{"wants memory forever", func(p *player) {
			p.frame(1, 0)
			for number := p.call(); number != 0; number = p.call() {
				p.answer(number, chunk(4096), 5)
			}
		}, 116, "refused: The answer needed more shared memory each time that it was given more."},
		{"cannot answer", says([]byte("Ba list\nof \x1b[31mthings")), 112,
			"test.0.error: the answer cannot be handed over: a list?of ?[31mthings"},
		{"wrong size", says(array(3, 1, 0)), 112, "test.0.error: size: expected 100, got 3"},
		{"wrong answer", says(array(100, 1, 0)), 112, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, judge, tt.play)
			if r.Judge.ExitCode() != tt.exit || !strings.Contains(r.Report, tt.line) {
				t.Errorf("%v; want exit code %d and %q\n%s", r.Judge, tt.exit, tt.line, r.Report)
			}
		})
	}
	t.Run("anything", func(t *testing.T) {
		for seed := range uint64(40) {
			r := play(t, judge, func(p *player) { p.scribble(seed) })
			if code := r.Judge.ExitCode(); code != 112 && code != 115 && code != 116 {
				t.Errorf("seed %d: %v\n%s", seed, r.Judge, r.Report)
			}
		}
	})
}

// play runs a test stage in which runner acts as the runner, and closes the channel after it.
func play(t *testing.T, judge string, runner func(*player)) pairtest.Result {
	t.Helper()
	e := pairtest.NewEnds(t)
	wait := pairtest.StartJudge(t, judge, e, "test", oneCase)
	runner(newPlayer(t, e))
	e.Runner.Close()
	return wait()
}

// scribble answers the first call with random bytes, most of which begin like answers, and then overwrites the page
// until the judge gives up.
func (p *player) scribble(seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 1))
	p.frame(1, 0)
	number := p.call()
	description := make([]byte, 1+chance.IntN(64))
	for i := range description {
		description[i] = byte(chance.Uint32() >> chance.IntN(9))
	}
	description[0] = "AAAANB?"[chance.IntN(7)]
	p.answer(number, description, chance.Float64()*1e6)
	for range 2000 {
		p.page[chance.IntN(atAnswer+64)] = byte(chance.Uint32())
	}
}
