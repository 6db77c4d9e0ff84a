package network

// mixed scrambles a seed and a name into a seed (Steele, Lea and Flood 2014,
// SplitMix64): names that differ in one bit give seeds that have nothing in common.
func mixed(seed, name uint64) uint64 {
	z := seed + (name+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unitOf turns 64 random bits into a number of [0, 1).
func unitOf(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }
