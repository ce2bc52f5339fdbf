// Package picture gets people's pictures from their sign-in providers: in the background, so that no sign-in waits for one
// or fails with it, and through the site, so that pages show nothing from elsewhere.
//
// Read fetcher.go (when, and the one request), then draw.go (what is made of the answer).
//
// Trust: with some providers people choose the address themselves, and the picture with all. So requests go to public addresses
// over https alone (publicnet, also after redirects), the answer is bounded in time, bytes and pixels, and is drawn again:
// nothing of the file itself is kept or sent, neither metadata nor what a decoder skips.
//
// Weaknesses: a photograph that only its metadata turns upright stays as it lies; of an animation the first picture is kept;
// what waits when the site stops is fetched at the next sign-in.
package picture
