/**
 * All of our environment that a program gets which a test starts: where programs are, and where their
 * compiled code is kept (vitest.config.ts).
 */
export const programEnvironment = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};
