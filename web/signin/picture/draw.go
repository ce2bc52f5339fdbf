package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

const (
	// size of the square that is kept: 44 px of a page on a screen of two pixels to one.
	size = 96
	// mostSide bounds what is decoded: 4 million pixels, for which a progressive JPEG of four colours takes 80 MB.
	mostSide = 2048
	// quality of JPEG; a photograph takes some 4 kB, as PNG five times as much.
	quality = 85
)

// format is how pictures of a type are read.
type format struct {
	size func(io.Reader) (image.Config, error)
	read func(io.Reader) (image.Image, error)
}

// formatOf knows a format by its first bytes; what a server says of its type counts for nothing.
func formatOf(data []byte) (f format, err error) {
	switch kind := http.DetectContentType(data); kind {
	case "image/png":
		return format{png.DecodeConfig, png.Decode}, nil
	case "image/jpeg":
		return format{jpeg.DecodeConfig, jpeg.Decode}, nil
	case "image/gif":
		return format{gif.DecodeConfig, gif.Decode}, nil
	case "image/webp":
		return format{webp.DecodeConfig, webp.Decode}, nil
	default:
		return f, fmt.Errorf("it is %s, not a PNG, JPEG, GIF or WebP", kind)
	}
}

// redraw makes a small square JPEG of the middle of a picture, on white.
func redraw(data []byte) (_ []byte, err error) {
	defer func() { // decoders have failed so before
		if r := recover(); r != nil {
			err = fmt.Errorf("decoding it panicked: %v", r)
		}
	}()
	f, err := formatOf(data)
	if err != nil {
		return nil, err
	}
	head, err := f.size(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading its size: %w", err)
	}
	if min(head.Width, head.Height) < 1 || max(head.Width, head.Height) > mostSide {
		return nil, fmt.Errorf("it has %d × %d pixels; up to %d × %d are read", head.Width, head.Height, mostSide, mostSide)
	}
	whole, err := f.read(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decoding it: %w", err)
	}
	small := image.NewRGBA(image.Rect(0, 0, size, size))
	draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.CatmullRom.Scale(small, small.Bounds(), whole, middle(whole.Bounds()), draw.Over, nil)
	var out bytes.Buffer
	err = jpeg.Encode(&out, small, &jpeg.Options{Quality: quality})
	return out.Bytes(), err
}

// middle is the largest square in the middle of a rectangle.
func middle(r image.Rectangle) image.Rectangle {
	side := min(r.Dx(), r.Dy())
	from := r.Min.Add(image.Pt((r.Dx()-side)/2, (r.Dy()-side)/2))
	return image.Rectangle{Min: from, Max: from.Add(image.Pt(side, side))}
}
