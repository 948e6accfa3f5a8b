// Source files run as they are, so no stack trace needs a map. vitest switches maps on, and Node.js would
// then read those of each package that has them, and look up each line of a stack trace.
process.setSourceMapsEnabled(false);
