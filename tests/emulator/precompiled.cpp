// A target needs a source; the precompiled header is what it makes.
