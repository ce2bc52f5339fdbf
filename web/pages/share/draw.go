package share

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"warpboard/evaluator/job"
)

// card is the text of a link's picture. Go's fonts have Latin, Greek and Cyrillic letters; others are boxes.
type card struct {
	Title, On, Big, Small string
	Dots                  []float64 // scores, the best first
}

const (
	cardWidth, cardHeight = 1200, 630 // what readers of Open Graph ask for
	margin                = 72
	mostDots              = 400
)

// The colours of the dark theme.
var (
	page   = color.RGBA{0x11, 0x13, 0x16, 0xff}
	ink    = color.RGBA{0xe8, 0xea, 0xed, 0xff}
	soft   = color.RGBA{0xa0, 0xa7, 0xb0, 0xff}
	accent = color.RGBA{0x9f, 0xad, 0xff, 0xff}
	record = color.RGBA{0xf2, 0xa6, 0x5a, 0xff}
)

// png draws the card.
func (k card) png() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, cardWidth, cardHeight))
	draw.Draw(img, img.Bounds(), image.NewUniform(page), image.Point{}, draw.Src)
	for i := range 4 { // the sign of the site
		top := margin - 20 + 14*(i%2)
		fill(img, image.Rect(margin+18*i, top, margin+18*i+8, margin+36), accent)
	}
	for _, line := range []struct {
		text string
		ttf  []byte
		size float64
		y    int
		ink  color.Color
	}{
		{"Warpboard", gobold.TTF, 36, margin + 32, ink},
		{k.Title, gobold.TTF, 56, 220, ink}, {k.On, goregular.TTF, 40, 280, soft},
		{k.Big, gobold.TTF, 120, 440, record}, {k.Small, goregular.TTF, 40, 505, ink},
	} {
		x := margin
		if line.text == "Warpboard" {
			x += 90
		}
		if err := write(img, line.text, line.ttf, line.size, x, line.y, line.ink); err != nil {
			return nil, err
		}
	}
	k.strip(img)
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img)
	return out.Bytes(), err
}

// strip draws all scores at the foot, on a logarithmic scale from the best at the left.
func (k card) strip(img *image.RGBA) {
	if len(k.Dots) == 0 || !(k.Dots[0] > 0) {
		return
	}
	span := math.Log(k.Dots[len(k.Dots)-1] / k.Dots[0])
	fill(img, image.Rect(margin, 565, cardWidth-margin, 567), color.RGBA{0x2a, 0x2e, 0x34, 0xff})
	for i, score := range k.Dots {
		at := 0.0
		if span > 0 {
			at = min(max(math.Log(score/k.Dots[0])/span, 0), 1)
		}
		x, shade := margin+int(at*(cardWidth-2*margin-10)), accent
		if i == 0 {
			shade = record
		}
		fill(img, image.Rect(x, 550, x+6, 582), shade)
	}
}

func fill(img *image.RGBA, at image.Rectangle, shade color.Color) {
	draw.Draw(img, at, image.NewUniform(shade), image.Point{}, draw.Src)
}

// write puts a line of text on the picture, and cuts it where it would leave it.
func write(img *image.RGBA, text string, ttf []byte, size float64, x, y int, shade color.Color) error {
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		return fmt.Errorf("reading the font: %w", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return fmt.Errorf("scaling the font: %w", err)
	}
	defer face.Close()
	pen := font.Drawer{Dst: img, Src: image.NewUniform(shade), Face: face, Dot: fixed.P(x, y)}
	letters := []rune(job.ShowBidi(text))
	letters = letters[:min(len(letters), 200)]
	for cut := len(letters); pen.MeasureString(string(letters)).Ceil() > cardWidth-margin-x && cut > 1; cut-- {
		letters = append(letters[:cut-2], '…')
	}
	pen.DrawString(string(letters))
	return nil
}
