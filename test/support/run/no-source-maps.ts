// Source files run as they are, so no stack trace needs a map. vitest switches maps on, and Node.js would then
// read those of every package that has some, and look up each line of every stack trace.
process.setSourceMapsEnabled(false);
