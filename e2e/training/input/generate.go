package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
)

// write is an input that a function writes, with random choices from the seed.
func write(f func(w *bufio.Writer, random *rand.Rand)) func(context.Context, string, string) error {
	return func(_ context.Context, _, path string) (err error) {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w := bufio.NewWriterSize(file, 1<<20)
		f(w, newRandom())
		return w.Flush()
	}
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(Seed, Seed)) }

// Sizes of the text inputs.
const (
	textBytes    = 32 << 20 // as large as the last-level cache of many machines
	linesBytes   = 2 << 20
	recordsBytes = 8 << 20
	vocabulary   = 12_000 // words, used with the frequencies of Zipf's law
	wordSkew     = 1.1
)

// words is a vocabulary of invented words.
func words(random *rand.Rand) []string {
	out := make([]string, vocabulary)
	for i := range out {
		letters := make([]byte, 2+random.IntN(9))
		for j := range letters {
			letters[j] = byte('a' + random.IntN(26))
		}
		if out[i] = string(letters); i%11 == 0 {
			out[i] += "_" + out[random.IntN(i+1)]
		}
	}
	return out
}

// writeText writes what looks like source code to a compressor: indented lines
// of words of very uneven frequency, with brackets, calls and numbers.
func writeText(w *bufio.Writer, random *rand.Rand) { writeProse(w, random, textBytes) }

func writeLines(w *bufio.Writer, random *rand.Rand) { writeProse(w, random, linesBytes) }

func writeProse(w *bufio.Writer, random *rand.Rand, bytes int) {
	list, zipf := words(random), rand.NewZipf(random, wordSkew, 2, vocabulary-1)
	word := func() string { return list[zipf.Uint64()] }
	for written := 0; written < bytes; {
		line := "\t\t\t\t"[:random.IntN(5)]
		for range 2 + random.IntN(7) {
			switch random.IntN(8) {
			case 0:
				line += word() + "(" + word() + ", " + word() + ") "
			case 1:
				line += fmt.Sprintf("%d ", random.IntN(4096))
			case 2:
				line += word() + " := "
			default:
				line += word() + " "
			}
		}
		n, _ := w.WriteString(line[:min(len(line), bytes-written-1)] + "\n") // the writer keeps its error
		written += n
	}
}

// writeRecords writes one JSON object a line.
func writeRecords(w *bufio.Writer, random *rand.Rand) {
	list := words(random)
	for written, i := 0, 0; written < recordsBytes; i++ {
		n, _ := fmt.Fprintf(w, `{"id":%d,"name":"%s %s","value":%.4f,"list":[%d,%d,%d,%d],"nested":{"tag":%q,"flag":%t}}`+"\n",
			i, list[random.IntN(len(list))], list[random.IntN(len(list))], random.Float64(),
			random.IntN(1000), random.IntN(1000), random.IntN(1000), random.IntN(1000), list[random.IntN(len(list))], random.IntN(2) == 0)
		written += n
	}
}

// Sound and pictures.
const (
	audioSeconds = 30
	audioRate    = 44_100
	textureSide  = 1024
)

// writeAudio writes stereo sound of 16 bits, little endian, without a header:
// chords that change, and noise.
func writeAudio(w *bufio.Writer, random *rand.Rand) {
	pitches := []float64{220, 277.2, 329.6}
	for i := range audioSeconds * audioRate {
		t := float64(i) / audioRate
		v := 0.0
		for _, p := range pitches {
			v += 6000 * math.Sin(2*math.Pi*p*t*math.Pow(2, float64(int(t*2)%7)/12))
		}
		for range 2 {
			s := int16(max(-32768, min(32767, v+1200*random.NormFloat64())))
			_, _ = w.Write([]byte{byte(s), byte(uint16(s) >> 8)}) // the writer keeps its error
		}
	}
}

// texture is a picture of soft noise of several sizes.
func texture(random *rand.Rand) [][]float64 {
	out := make([][]float64, textureSide)
	for y := range out {
		out[y] = make([]float64, textureSide)
	}
	for cell := 4; cell <= 128; cell *= 4 {
		side := textureSide/cell + 1
		corners := make([]float64, side*side)
		for i := range corners {
			corners[i] = random.Float64()
		}
		at := func(x, y int) float64 { return corners[y%side*side+x%side] }
		for y := range textureSide {
			fy, iy := float64(y%cell)/float64(cell), y/cell
			for x := range textureSide {
				fx, ix := float64(x%cell)/float64(cell), x/cell
				out[y][x] += 64 * ((at(ix, iy)*(1-fx)+at(ix+1, iy)*fx)*(1-fy) + (at(ix, iy+1)*(1-fx)+at(ix+1, iy+1)*fx)*fy)
			}
		}
	}
	return out
}

// videoHeader is the first line of a YUV4MPEG2 file.
func videoHeader(width, height int) string {
	return fmt.Sprintf("YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420\n", width, height)
}

// video is a texture that moves, with a little noise, as raw frames.
func video(width, height, frames int) func(*bufio.Writer, *rand.Rand) {
	return func(w *bufio.Writer, random *rand.Rand) {
		picture := texture(random)
		_, _ = w.WriteString(videoHeader(width, height)) // the writer keeps its error
		for f := range frames {
			_, _ = w.WriteString("FRAME\n")
			for y := range height {
				for x := range width {
					v := picture[(y+f*2)%textureSide][(x+f*3)%textureSide] + float64(random.IntN(6))
					_ = w.WriteByte(byte(min(255, v)))
				}
			}
			for i := range width * height / 2 {
				_ = w.WriteByte(byte(112 + (i/37+f)%32))
			}
		}
	}
}

// writePicture writes a small colour picture, format P6.
func writePicture(w *bufio.Writer, random *rand.Rand) {
	const width, height = 160, 120
	picture := texture(random)
	_, _ = fmt.Fprintf(w, "P6\n%d %d\n255\n", width, height)
	for y := range height {
		for x := range width {
			for c := range 3 {
				_ = w.WriteByte(byte(min(255, picture[(y*3+c*97)%textureSide][x*3%textureSide])))
			}
		}
	}
}

// writeFormula writes a random 3-SAT formula near the ratio of clauses to
// variables where such formulas are hardest, 4.26.
func writeFormula(w *bufio.Writer, random *rand.Rand) {
	const variables, clauses = 120, 511
	_, _ = fmt.Fprintf(w, "p cnf %d %d\n", variables, clauses)
	for range clauses {
		for _, v := range random.Perm(variables)[:3] {
			if random.IntN(2) == 0 {
				v = -v - 2 // −(v+1) once one is added
			}
			_, _ = fmt.Fprintf(w, "%d ", v+1)
		}
		_, _ = w.WriteString("0\n")
	}
}

// writeSource writes small functions in C.
func writeSource(w *bufio.Writer, random *rand.Rand) {
	for i := range 3 {
		_, _ = fmt.Fprintf(w, `
static int helper%[1]d(int a, int b) { return (a * %[2]d + b) ^ (b >> %[3]d); }
int compute%[1]d(const int *v, int n) {
  int sum = %[2]d;
  for (int i = 0; i < n; i++) {
    if (v[i] %% %[4]d == 0) sum += helper%[1]d(v[i], sum);
    else sum -= v[i] << %[3]d;
    switch (v[i] & 3) { case 0: sum ^= %[2]d; break; case 1: sum += n; break; default: sum--; }
  }
  return sum;
}
`, i, 3+random.IntN(90), 1+random.IntN(7), 2+random.IntN(9))
	}
}
