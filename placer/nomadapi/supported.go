package nomadapi

// SupportedNomad is the range of Nomad versions the product supports; the README
// says what was tested on which.
const SupportedNomad = ">= 1.10.0, < 2.1.0"
