package site

// MostValues is how many values, keys included, the JSON of one request may have where nothing says otherwise: each takes
// far more memory and time than its text.
const MostValues = 1 << 12

// mostFields is how many fields a form may have.
const mostFields = 1 << 12
